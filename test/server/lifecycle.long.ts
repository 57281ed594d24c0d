import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { type PipedProgram, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import { createWorld, until } from '../support/world.ts'
import { connectedServer } from './connected-server.ts'

/** Sends SIGTERM and measures how long the server takes to end. */
async function terminated(server: PipedProgram): Promise<{ code: number; tookMs: number }> {
  const started = performance.now()
  server.kill('SIGTERM')
  const { code } = await server.ended()
  return { code, tookMs: performance.now() - started }
}

const PRODUCTION = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '0',
  PUBLIC_URL: 'https://sms.example.com',
  RC_CLIENT_ID: 'client',
  RC_CLIENT_SECRET: 'client-key',
  ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
}

const statusesOf = (path: string): Record<string, number> => {
  const database = new Database(path, { readonly: true })
  const rows = database
    .query<{ status: string; n: number }, []>('SELECT status, count(*) AS n FROM messages GROUP BY status')
    .all()
  database.close()
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
}

test.concurrent('SIGTERM waits for sends in flight and stores their results, then ends with 0', async () => {
  using folder = temporaryFolder()
  const { simulator, server, send } = await connectedServer(folder.database)
  await using _ = server
  try {
    simulator.control.fault({ route: 'sms', calls: null, fault: { kind: 'delay', ms: 1500 } })
    const ids = await Promise.all(
      Array.from({ length: 5 }, (_value, index) => send(`Hello ${index}`, `+1555777100${index}`)),
    )
    await until(() => statusesOf(folder.file('sgw.db'))['sending'] === ids.length)
    const { code, tookMs } = await terminated(server)
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(9000)
    expect(statusesOf(folder.file('sgw.db'))).toEqual({ sent: 5 })
    expect(simulator.control.messages({ direction: 'Outbound' }).length).toBe(5)
  } finally {
    await simulator.stop()
  }
}, 60_000)

test.concurrent('a provider that hangs, in a send and in recurring work, delays a stop by less than 9 s', async () => {
  using folder = temporaryFolder()
  const { simulator, server, env, send } = await connectedServer(folder.database)
  await using first = server
  await first[Symbol.asyncDispose]()
  // The next start runs a back-fill, and the provider never answers it.
  for (const route of ['sms', 'message-store'] as const)
    simulator.control.fault({ route, calls: null, fault: { kind: 'hang' } })
  await using second = await startServer({ ...env, PORT: String(server.port) })
  try {
    await send('Hello')
    await until(() => statusesOf(folder.file('sgw.db'))['sending'] === 1)
    const { code, tookMs } = await terminated(second)
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(9000)
    expect(statusesOf(folder.file('sgw.db'))).toEqual({ sending: 1 })
  } finally {
    await simulator.stop()
  }
}, 60_000)

test.concurrent('an idle server ends at once with 0 after SIGTERM, removes its socket, and leaves all data in one file', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  await server.printed(/limit=1/)
  const { code, tookMs } = await terminated(server)
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(2000)
  expect(await Bun.file(folder.file('sgw.db.sock')).exists()).toBe(false)
  expect(Bun.file(folder.file('sgw.db-wal')).size).toBe(0)
}, 30_000)

/** Sends signals, with pauses in milliseconds between them, to a server whose provider hangs in a send. */
async function interrupted(...steps: (NodeJS.Signals | number)[]): Promise<{ livedUntilLast: boolean; code: number }> {
  using folder = temporaryFolder()
  const { simulator, server, send } = await connectedServer(folder.database)
  await using _ = server
  try {
    simulator.control.fault({ route: 'sms', calls: null, fault: { kind: 'hang' } })
    await send('Hello')
    await until(() => statusesOf(folder.file('sgw.db'))['sending'] === 1)
    let livedUntilLast = false
    for (const step of steps) {
      livedUntilLast = server.child.exitCode === null
      if (typeof step === 'number') await Bun.sleep(step)
      else server.kill(step)
    }
    const lastAt = performance.now()
    const { code } = await server.ended()
    expect(performance.now() - lastAt).toBeLessThan(5000)
    expect(statusesOf(folder.file('sgw.db'))).toEqual({ sending: 1 })
    return { livedUntilLast, code }
  } finally {
    await simulator.stop()
  }
}

test.concurrent('a second signal ends the server at once', async () => {
  const { livedUntilLast, code } = await interrupted('SIGTERM', 300, 'SIGTERM')
  expect(livedUntilLast).toBe(true)
  expect(code).not.toBe(0)
}, 60_000)

test.concurrent('two simultaneous ^C, from the terminal and from bun run, count as one; the next one ends the server at once', async () => {
  const { livedUntilLast, code } = await interrupted('SIGINT', 'SIGINT', 600, 'SIGINT')
  expect(livedUntilLast).toBe(true)
  expect(code).not.toBe(0)
}, 60_000)

test.concurrent('a ^C after another signal counts as a second signal', async () => {
  const { code } = await interrupted('SIGTERM', 20, 'SIGINT')
  expect(code).not.toBe(0)
}, 60_000)

test.concurrent('SIGTERM ends a server that waits for the database at once with 0', async () => {
  using folder = temporaryFolder()
  await using holder = startProgram('test/db/fixtures/hold-process-lock.ts', [folder.file('sgw.db')])
  await holder.printed(/held/)
  await using waiting = startProgram('src/main.ts', [], { ...PRODUCTION, DATABASE_URL: folder.database })
  await waiting.printed(/waiting for it to end/)
  const { code, tookMs } = await terminated(waiting)
  expect(code).toBe(0)
  expect(tookMs).toBeLessThan(1000)
  expect(waiting.stdout).toContain('stopping')
}, 30_000)

const usedBy = (pid: number): RegExp =>
  new RegExp(`^Another process uses .*sgw\\.db \\(pid ${pid}\\): stop it first, or set DATABASE_URL to another file\n$`)

test.concurrent('a second server in production waits 30 s, then exits with 75 and one line', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  const started = performance.now()
  await using second = startProgram('src/main.ts', [], { ...PRODUCTION, DATABASE_URL: folder.database })
  const { code, stderr, stdout } = await second.ended()
  expect(performance.now() - started).toBeGreaterThan(29_000)
  expect(code).toBe(75)
  const waits = stdout.split('\n').find((line) => line.includes('waiting for it to end'))
  expect(JSON.parse(waits ?? '{}')).toMatchObject({ pid: server.child.pid })
  expect(stderr).toMatch(usedBy(server.child.pid))
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
}, 60_000)

test.concurrent('a second server in development exits with 75 at once, and names the process of the first', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  await using second = startProgram('src/main.ts', [], { PORT: '0', DATABASE_URL: folder.database })
  const { code, stderr, stdout } = await second.ended()
  expect({ code, stdout }).toEqual({ code: 75, stdout: '' })
  expect(stderr).toMatch(usedBy(server.child.pid))
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  server.kill('SIGTERM')
  await server.ended()
  expect(await Bun.file(folder.file('sgw.db.pid')).exists()).toBe(false)
}, 30_000)

test.concurrent('the workers do not start after a signal', async () => {
  using folder = temporaryFolder()
  await using world = await createWorld({ work: false, folder: folder.path })
  await world.send()
  const stopped = world.running.stop()
  world.running.work()
  await stopped
  expect(statusesOf(folder.file('sgw.db'))).toEqual({ queued: 1 })
  expect(world.control.messages({ direction: 'Outbound' })).toEqual([])
})
