import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Socket, connect } from 'node:net'
import { startServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/world.ts'

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
