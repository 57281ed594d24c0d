import { openGroupCommit } from '../support/group-commit.ts'
import type { Message } from './contestant.ts'
import { callProvider } from './provider-call.ts'

// The floor with a disk. Requests that arrive together share one commit, which writes a message and a job for each and is
// flushed before the 202. Their results share another commit. There is no key, check, limit, list or attempt.
// Arguments: the database file, the provider's address, the number of parallel calls. Prints its port.

const [path = '', providerUrl = '', maxCalls = '0'] = process.argv.slice(2)
const { database, committed } = openGroupCommit(path, [
  `CREATE TABLE messages (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, from_number TEXT NOT NULL,
    to_number TEXT NOT NULL, body TEXT NOT NULL, status TEXT NOT NULL)`,
  'CREATE TABLE jobs (seq INTEGER PRIMARY KEY, message TEXT NOT NULL)',
])
const insertMessage = database.prepare(`INSERT INTO messages VALUES (?, ?, ?, ?, ?, 'queued')`)
const insertJob = database.prepare('INSERT INTO jobs VALUES (?, ?)')
const markSent = database.prepare(`UPDATE messages SET status = 'sent' WHERE id = ?`)
const deleteJob = database.prepare('DELETE FROM jobs WHERE seq = ?')

interface StoredMessage extends Message {
  seq: number
  id: string
}

const waiting: StoredMessage[] = []
let count = 0
let inFlight = 0
let sent = 0

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return new Response(String(sent))
    const { from, to, body } = (await request.json()) as Message
    const seq = ++count
    const message = { seq, id: `msg_${(seq * 2_654_435_761).toString(16).padStart(12, '0')}`, from, to, body }
    await committed(() => {
      insertMessage.run([seq, message.id, from, to, body])
      insertJob.run([seq, message.id])
    })
    deliver(message)
    return Response.json({ messageId: message.id, status: 'queued' }, { status: 202 })
  },
})
process.stdout.write(`${server.port}\n`)

function deliver(message: StoredMessage): void {
  if (inFlight < Number(maxCalls)) void call(message)
  else waiting.push(message)
}

async function call(message: StoredMessage): Promise<void> {
  inFlight++
  for (let next: StoredMessage | undefined = message; next !== undefined; next = waiting.pop()) {
    await callProvider(providerUrl, next)
    await stored(next)
  }
  inFlight--
}

async function stored({ seq, id }: StoredMessage): Promise<void> {
  await committed(() => {
    markSent.run([id])
    deleteJob.run([seq])
  })
  sent++
}
