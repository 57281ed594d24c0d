import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { join } from 'node:path'
import { startServer, temporaryFolder } from '../../support/process.ts'
import { PROJECT, finished } from '../../support/program.ts'
import { FROM, TO, until } from '../../support/world.ts'

const OPEN_FILES = 100
const CONNECTIONS = 300

/** Returns how often the main thread went to sleep voluntarily. A spinning event loop never does. */
const sleeps = (pid: number): number =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

test('a process without free file descriptors does not spin, serves open connections, and recovers by itself', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database, LOG_LEVEL: 'warn' })
  await server.printed(/limit=1/)
  const { pid } = server.child
  Bun.spawnSync(['prlimit', '--pid', String(pid), `--nofile=${OPEN_FILES}:${OPEN_FILES}`])
  const sockets: Socket[] = []
  for (let n = 0; n < CONNECTIONS; n++) {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nX: '))
    sockets.push(socket.on('error', () => undefined))
  }
  await server.printed(/no file descriptor is left/)
  const before = sleeps(pid)
  await Bun.sleep(1000)
  expect(sleeps(pid) - before).toBeGreaterThan(50)
  for (const socket of sockets) socket.destroy()
  await server.printed(/file descriptors are free again/)
  await until(async () => (await fetch(`${server.url}/health`, { keepalive: false }).catch(() => null))?.ok === true)
})

interface Answer {
  messageId?: string
  status?: string
  total?: number
}

/** How often a process has opened a file. */
const openCount = (pid: number, path: string): number =>
  readdirSync(`/proc/${pid}/fd`).filter((name) => {
    const link = `/proc/${pid}/fd/${name}`
    return existsSync(link) && readlinkSync(link) === path
  }).length

const limitOpenFiles = (pid: number, count: number): void =>
  void Bun.spawnSync(['prlimit', '--pid', String(pid), `--nofile=${count}:4096`])

test('sends and lists go on while the process can open no more than one connection', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({
    DATABASE_URL: folder.database,
    LOG_LEVEL: 'warn',
    KEY_LIMIT_PER_MINUTE: '10000',
    FROM_LIMIT_PER_MINUTE: '10000',
    EXTENSION_LIMIT_PER_MINUTE: '10000',
  })
  const [, apiKey = ''] = await server.printed(/\b(sgw_[\w-]{43})/)
  const { pid } = server.child
  /** Asks until there is an answer, because the gateway closes idle connections when it has no descriptor left. */
  const call = (method: 'GET' | 'POST', path: string, body?: object) =>
    until(async () => {
      const headers = { authorization: `Bearer ${apiKey}` }
      const request = {
        method,
        headers,
        keepalive: false,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }
      const response = await fetch(`${server.url}${path}`, request).catch(() => null)
      const answer = (await response?.json().catch(() => null)) as Answer | null | undefined
      if (answer === null || answer === undefined) expect(server.child.exitCode).toBeNull()
      else return { status: response?.status, body: answer }
    })
  const send = () => call('POST', '/v1/sms/send', { from: FROM, to: TO, body: 'Hi' })
  const { messageId = '' } = (await send()).body
  await until(async () => (await call('GET', `/v1/sms/status/${messageId}`)).body.status === 'sent')
  // By the lock, the gate, the look at its content, and the reader thread, which opens it at the start: at the first list no
  // descriptor may be left.
  await until(() => openCount(pid, folder.file('sgw.db')) === 4)
  limitOpenFiles(pid, readdirSync(`/proc/${pid}/fd`).length + 1)
  for (let round = 1; round <= 20; round++) {
    expect((await send()).status).toBe(202)
    for (const path of [
      '/v1/sms/messages?limit=5',
      '/v1/webhook-deliveries',
      '/v1/conversations',
      '/v1/overview',
      '/v1/opt-outs',
    ])
      expect([path, (await call('GET', path)).status]).toEqual([path, 200])
    expect((await call('GET', '/v1/sms/messages?status=failed&limit=5')).body.total).toBe(0)
  }
  limitOpenFiles(pid, 4096)
  await until(async () => Number((await call('GET', '/v1/sms/messages?status=sent&limit=5')).body.total) > 20)
  expect(server.child.exitCode).toBeNull()
})

/** Opens a database, lets another process empty its log, uses up all descriptors, and commits two units at once. */
const COMMIT_WITHOUT_DESCRIPTORS = `
  const { openDatabase } = await import(${JSON.stringify(join(PROJECT, 'src/db/database.ts'))})
  const path = process.argv[1]
  const { writer, gate } = await openDatabase({ url: 'file:' + path, path, authToken: null, litestream: true })
  const insert = (name) => writer.write([{ sql: 'INSERT INTO facts (name, value) VALUES (?, 1)', args: [name] }])
  await insert('none')
  const checkpoint = "new (require('bun:sqlite').Database)(process.argv[1]).run('PRAGMA wal_checkpoint(TRUNCATE)')"
  Bun.spawnSync([process.execPath, '-e', checkpoint, path])
  try { for (;;) require('node:fs').openSync('/dev/null', 'r') } catch {}
  const ends = await Promise.allSettled([insert('one'), insert('two')])
  const [[count]] = await gate.values("SELECT count(*) FROM facts WHERE name IN ('one', 'two')")
  console.log(JSON.stringify({ ends: ends.map(({ status }) => status), count }))
  process.exit(0)`

test('after another process has emptied the log, a commit succeeds also without a free descriptor', async () => {
  using folder = temporaryFolder()
  const command = ['prlimit', '--nofile=100:100', process.execPath, '-e', COMMIT_WITHOUT_DESCRIPTORS]
  const { stdout } = await finished([...command, folder.file('sgw.db')], {})
  expect(JSON.parse(stdout)).toEqual({ ends: ['fulfilled', 'fulfilled'], count: 2 })
})
