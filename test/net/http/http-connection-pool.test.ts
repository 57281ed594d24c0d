import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { HttpConnectionPool } from '../../../src/net/http/http-connection-pool.ts'
import { rawServer } from '../../provider/ringcentral/servers.ts'
import { fakeTimers } from '../../support/fake-timers.ts'
import { temporaryFolder } from '../../support/process.ts'
import { type ExchangeResult, MAX_HEAD_BYTES, endpointAt, exchange, request } from './exchanges.ts'

const MAX_IDLE_MS = 30_000
const poolOf = (port: number, maxIdleMs = MAX_IDLE_MS): HttpConnectionPool =>
  new HttpConnectionPool(endpointAt(port), MAX_HEAD_BYTES, maxIdleMs)
const ask = (pool: HttpConnectionPool, fresh = false): Promise<ExchangeResult> =>
  exchange((listener) => pool.send(request(), listener, fresh))

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const says =
  (text: string) =>
  (socket: Socket): void =>
    void socket.on('data', () => socket.write(text))

/** Resolves when the server's side of a connection is closed. */
const closedBy = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))

test('one connection serves one exchange after another', async () => {
  let turns = 0
  // Together, the heads exceed the limit of one head, and every second head arrives in parts.
  const head = (turn: number): string =>
    Array.from({ length: turn % 2 === 0 ? 60 : 1 }, (_, index) => `X-${index}: ${turn} ${'x'.repeat(50)}\r\n`).join('')
  await using server = await rawServer((socket) =>
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${head(turns++)}Content-Length: 2\r\n\r\nok`)),
  )
  const pool = poolOf(server.port)
  for (let turn = 0; turn < 50; turn++) {
    const ended = await ask(pool)
    expect(ended).toMatchObject({ body: 'ok', failure: null })
    expect(ended.head?.header('x-0')).toStartWith(`${turn} `)
    expect(ended.head?.header('x-59') === null).toBe(turn % 2 === 1)
  }
  expect(server.connections).toBe(1)
})

test('each exchange gets its own response, although others are late and some connections are destroyed', async () => {
  await using server = await rawServer((socket) =>
    socket.on('data', (data) => {
      const id = data.toString().split('\r\n\r\n')[1] ?? ''
      setTimeout(() => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${id.length}\r\n\r\n${id}`), Number(id) % 7)
    }),
  )
  const pool = poolOf(server.port)
  const askFor = async (id: number): Promise<void> => {
    // The caller does not wait for the response.
    pool.send(request(`${id + 1}`), { head() {}, body() {}, end() {}, fail() {} }).destroy()
    expect((await exchange((listener) => pool.send(request(`${id}`), listener))).body).toBe(`${id}`)
  }
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 20 }, (_, index) => askFor(1000 + round * 20 + index)))
  expect(server.connections).toBeGreaterThan(20)
})

test('interim responses and headers of one response do not count towards the limits of the next', async () => {
  const interims = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(7)
  // The response has two writes, because the bytes of an incomplete head are counted.
  const begin = `${interims}HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1000)}\r\n`
  await using server = await rawServer((socket) =>
    socket
      .setNoDelay()
      .on('data', () => socket.write(begin, () => setTimeout(() => socket.write('Content-Length: 2\r\n\r\nok'), 2))),
  )
  const pool = poolOf(server.port)
  for (let turn = 0; turn < 20; turn++) expect(await ask(pool)).toMatchObject({ body: 'ok', failure: null })
  expect(server.connections).toBe(1)
})

test('simultaneous exchanges have connections of their own, and the last used connection is used first', async () => {
  const order: number[] = []
  let connections = 0
  await using server = await rawServer((socket) => {
    const number = connections++
    socket.on('data', () => (order.push(number), socket.write(OK)))
  })
  const pool = poolOf(server.port)
  await Promise.all([ask(pool), ask(pool), ask(pool)])
  const last = order.at(-1)
  await ask(pool)
  await ask(pool)
  expect(server.connections).toBe(3)
  expect(order.slice(3)).toEqual([last, last] as number[])
})

const unkept: [name: string, text: string, body: string][] = [
  ['announces a close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok', 'ok'],
  ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok'],
  ['sends more than the response', `${OK}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong`, 'ok'],
  ['sends other bytes after the response', `${OK}what else`, 'ok'],
  ['changes the protocol', 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', ''],
]
test.each(unkept)('the connection to a server that %s is closed', async (_name, text, body) => {
  const closed: Promise<void>[] = []
  await using server = await rawServer((socket) => (closed.push(closedBy(socket)), says(text)(socket)))
  const pool = poolOf(server.port)
  for (let turn = 0; turn < 3; turn++) expect(await ask(pool)).toMatchObject({ body, failure: null })
  await Promise.all(closed)
  expect(closed).toHaveLength(3)
})

const goodbyes: [name: string, goodbye: (socket: Socket) => void][] = [
  [
    'receives bytes without a request',
    (socket) => socket.write('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'),
  ],
  ['ends', (socket) => socket.end()],
]
test.each(goodbyes)('a kept connection that %s is not used again', async (_name, goodbye) => {
  const sockets: Socket[] = []
  await using server = await rawServer((socket) => (sockets.push(socket), says(OK)(socket)))
  const pool = poolOf(server.port)
  await ask(pool)
  const [first] = sockets as [Socket]
  const over = closedBy(first)
  goodbye(first)
  await over
  expect(await ask(pool)).toMatchObject({ body: 'ok', failure: null })
  expect(server.connections).toBe(2)
})

test('a kept connection that ends before the response is stale; one that ends within it is not', async () => {
  let requests = 0
  await using server = await rawServer((socket) =>
    socket.on('data', () => {
      requests++
      if (requests % 2 === 1) return socket.write(OK)
      return requests === 2 ? socket.resetAndDestroy() : socket.end('HTTP/1.1 200 OK\r\nContent-Le')
    }),
  )
  const pool = poolOf(server.port)
  await ask(pool)
  expect((await ask(pool)).failure).toEqual({ code: 'ECONNRESET', neverLeft: false, isStale: true })
  await ask(pool)
  expect((await ask(pool)).failure).toEqual({ code: 'ECONNRESET', neverLeft: false, isStale: false })
})

test('a caller can request a new connection', async () => {
  await using server = await rawServer(says(OK))
  const pool = poolOf(server.port)
  await ask(pool)
  await ask(pool, true)
  expect(server.connections).toBe(2)
})

test('idle connections are closed, each at its own time', async () => {
  const closed: Promise<void>[] = []
  await using server = await rawServer((socket) => (closed.push(closedBy(socket)), says(OK)(socket)))
  const timers = fakeTimers()
  const pool = poolOf(server.port)
  for (let round = 0; round < 2; round++) {
    await Promise.all([ask(pool), ask(pool)])
    timers.advance(MAX_IDLE_MS / 2)
    // One of the connections is younger from now on.
    await ask(pool)
    timers.advance(MAX_IDLE_MS / 2 + 1)
    await Promise.race(closed.slice(-2))
    timers.advance(MAX_IDLE_MS)
    await Promise.all(closed)
  }
  expect(server.connections).toBe(4)
})

test('a connection that was idle for too long is not used, even if the sweep is late', async () => {
  const closed: Promise<void>[] = []
  await using server = await rawServer((socket) => (closed.push(closedBy(socket)), says(OK)(socket)))
  const pool = poolOf(server.port, 20)
  await ask(pool)
  Bun.sleepSync(30)
  expect(await ask(pool)).toMatchObject({ body: 'ok', failure: null })
  expect(server.connections).toBe(2)
  await closed[0]
})

test('a connection that the server closed while the event loop was blocked gets no request', async () => {
  // The server has a process of its own, because it must run while this process is blocked.
  using folder = temporaryFolder()
  const closed = folder.file('closed')
  const script = `require('net').createServer((socket) => socket.on('error', () => {}).on('data', () =>
    (socket.write(${JSON.stringify(OK)}), setTimeout(() => socket.end(() => require('fs').writeFileSync(${JSON.stringify(closed)}, '')), 10))))
    .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  try {
    const { value } = await child.stdout.getReader().read()
    const pool = poolOf(Number(new TextDecoder().decode(value)))
    await ask(pool)
    // However busy the machine is: until the server has closed it.
    while (!existsSync(closed)) Bun.sleepSync(20)
    Bun.sleepSync(50)
    expect((await ask(pool)).failure).toEqual({ code: 'ECONNRESET', neverLeft: true, isStale: true })
  } finally {
    child.kill()
  }
})

test('a process waits for a response, but not for its idle connections', async () => {
  let requests = 0
  await using server = await rawServer((socket) =>
    socket.on('data', () => (++requests === 1 ? socket.write(OK) : setTimeout(() => socket.write(OK), 100))),
  )
  const script = `const { HttpConnectionPool } = await import(${JSON.stringify(`${import.meta.dir}/../../../src/net/http/http-connection-pool.ts`)})
    const pool = new HttpConnectionPool({ hostname: '127.0.0.1', port: ${server.port}, tls: null }, 16384)
    const ask = (end) => pool.send('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', { head() {}, body() {}, end, fail: end })
    ask(() => ask(() => console.log('ended')))`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  expect(await new Response(child.stdout).text()).toBe('ended\n')
  expect(await child.exited).toBe(0)
  expect({ requests, connections: server.connections }).toEqual({ requests: 2, connections: 1 })
})
