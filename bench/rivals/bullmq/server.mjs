// The usual stack for background sends: Express accepts a message, stores a row in SQLite and a job in Redis, and BullMQ's
// worker calls the provider. It is plain JavaScript for Node with packages of its own, so the project's checks exclude it.
// Arguments: database file, port of Redis, the provider's address for messages, number of parallel calls. Prints its port.
import Database from 'better-sqlite3'
import { Queue, Worker } from 'bullmq'
import express from 'express'
import { Redis } from 'ioredis'

const [path, redisPort, smsUrl, concurrency] = process.argv.slice(2)
const database = new Database(path)
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec(`CREATE TABLE messages (id INTEGER PRIMARY KEY, sender TEXT NOT NULL, recipient TEXT NOT NULL,
  body TEXT NOT NULL, status TEXT NOT NULL, provider_id TEXT, created_at INTEGER NOT NULL)`)
const insert = database.prepare(`INSERT INTO messages (sender, recipient, body, status, created_at)
  VALUES (?, ?, ?, 'queued', ?)`)
const markSent = database.prepare(`UPDATE messages SET status = 'sent', provider_id = ? WHERE id = ?`)
const countSent = database.prepare(`SELECT count(*) AS sent FROM messages WHERE status = 'sent'`)

const connect = () => new Redis(Number(redisPort), '127.0.0.1', { maxRetriesPerRequest: null })
const queue = new Queue('send', { connection: connect() })
const worker = new Worker('send', send, { connection: connect(), concurrency: Number(concurrency) })
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])

const app = express()
app.use(express.json())
// oxlint-disable-next-line no-async-endpoint-handlers -- Express 5 handles a rejection.
app.post('/send', async (request, response) => {
  const { from, to, body } = request.body
  const id = Number(insert.run(from, to, body, Date.now()).lastInsertRowid)
  await queue.add('send', { id, from, to, body }, { removeOnComplete: true })
  response.status(202).json({ messageId: id, status: 'queued' })
})
app.get('/sent', (_request, response) => response.send(String(countSent.get().sent)))
const server = app.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

async function send({ data: { id, from, to, body } }) {
  const headers = { 'content-type': 'application/json' }
  const sms = { from: { phoneNumber: from }, to: [{ phoneNumber: to }], text: body }
  const answer = await (await fetch(smsUrl, { method: 'POST', headers, body: JSON.stringify(sms) })).json()
  markSent.run(String(answer.id), id)
}
