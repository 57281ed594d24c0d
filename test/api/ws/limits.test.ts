import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { openRawSocket } from '../../support/raw-socket.ts'
import { type SocketClient, firstMessage, listenTo, openSocket } from '../../support/socket.ts'
import { createWorld, until } from '../../support/world.ts'

const quiet = { connect: false, work: false }

/** Whether the upgrade itself was refused. */
const refused = (opening: Promise<unknown>): Promise<boolean> =>
  opening.then(
    () => false,
    () => true,
  )

test('ten failed credentials block the address: 429 at /ws and for keys, open sockets stay', async () => {
  await using world = await createWorld(quiet)
  await using before = await listenTo(world.url, { apiKey: world.key })
  for (let attempt = 0; attempt < 5; attempt++) {
    await firstMessage(world.url, { type: 'auth', apiKey: 'sgw_wrong' })
    await firstMessage(world.url, { type: 'auth', token: 'wst_wrong' })
    if (attempt === 4) break
    // A message without a credential is not counted.
    await firstMessage(world.url, 'garbage')
    expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  }
  const answer = await world.call('GET', '/ws', { key: null, headers: { upgrade: 'websocket' } })
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(890, 901)
  await expectError(answer, 429, 'Too many requests')
  await expectError(await world.call('GET', '/v1/apps'), 429, 'Too many requests')
  expect(await refused(openSocket(world.url))).toBe(true)
  expect((await world.call('GET', '/health', { key: null })).status).toBe(200)
  expect(before.isOpen).toBe(true)
})

test('a socket that was opened before the block cannot authenticate after it', async () => {
  await using world = await createWorld(quiet)
  await using socket = await openSocket(world.url)
  for (let attempt = 0; attempt < 10; attempt++) await firstMessage(world.url, { type: 'auth', apiKey: 'sgw_wrong' })
  socket.send({ type: 'auth', apiKey: world.key })
  expect(await socket.closed).toEqual({ code: 1008, reason: 'Invalid API key' })
})

const LATE = [{ type: 'auth_error', error: 'Send auth first' }]

test('at most 20 unauthenticated sockets of an address are open; a new one replaces the oldest', async () => {
  await using world = await createWorld({ ...quiet, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  await using stack = new AsyncDisposableStack()
  const open = async (address: string): Promise<SocketClient> =>
    stack.use(await openSocket(world.url, { 'x-forwarded-for': address }))
  const waiting: SocketClient[] = []
  for (let count = 0; count < 21; count++) waiting.push(await open('203.0.113.1'))
  const [oldest, second, third] = waiting
  await oldest?.closed
  expect(oldest?.messages).toEqual(LATE)
  expect(waiting.filter(({ isOpen }) => isOpen)).toHaveLength(20)
  await open('203.0.113.2')
  second?.send({ type: 'auth', apiKey: world.key })
  await second?.received(1)
  await open('203.0.113.1')
  expect(third?.isOpen).toBe(true)
  const last = await open('203.0.113.1')
  await third?.closed
  last.send({ type: 'auth', apiKey: world.key })
  expect(await last.received(1)).toEqual([{ type: 'auth_ok' }])
  expect(second?.isOpen).toBe(true)
})

test('with 1,000 unauthenticated sockets, a client that authenticates is still accepted, and the oldest socket is closed', async () => {
  await using world = await createWorld({ ...quiet, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  await using stack = new AsyncDisposableStack()
  const waiting: SocketClient[] = []
  for (let group = 0; group < 50; group++) {
    const address = `203.0.113.${group}`
    const open = (): Promise<SocketClient> => openSocket(world.url, { 'x-forwarded-for': address })
    waiting.push(...(await Promise.all(Array.from({ length: 20 }, open))))
  }
  for (const socket of waiting) stack.use(socket)
  const honest = stack.use(await listenTo(world.url, { apiKey: world.key }, { 'x-forwarded-for': '198.51.100.1' }))
  await until(() => waiting.filter(({ isOpen }) => !isOpen).length === 1)
  const evicted = waiting.findIndex(({ isOpen }) => !isOpen)
  expect(evicted).toBeLessThan(20)
  expect(waiting[evicted]?.messages).toEqual(LATE)
  expect(honest.isOpen).toBe(true)
  expect(world.gateway.sockets.count).toBe(1000)
})

test('clients that do not answer a close frame use at most 1,000 descriptors; further sockets are terminated', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const codesOf = async (group: number): Promise<Set<number>> => {
    const open = (_: unknown, n: number): Promise<SocketClient> =>
      openSocket(world.url, { 'x-forwarded-for': `198.${group}.${n >> 8}.${n & 255}` })
    const sockets = await Promise.all(Array.from({ length: 1000 }, open))
    clock.advance(5000)
    return new Set(await Promise.all(sockets.map(async ({ closed }) => (await closed).code)))
  }
  expect(await codesOf(51)).toEqual(new Set([1008]))
  expect(await codesOf(52)).toEqual(new Set([1006]))
  clock.advance(16_000)
  expect(await codesOf(53)).toEqual(new Set([1008]))
})

test('a storage error during the check of a key closes the socket with 1013', async () => {
  await using world = await createWorld(quiet)
  world.gateway.keys.find = () => Promise.reject(new Error('disk I/O error'))
  expect(await firstMessage(world.url, { type: 'auth', apiKey: world.key })).toEqual({
    messages: [],
    code: 1013,
    reason: 'Try again later',
  })
  expect(world.gateway.failedAttempts.blockedSeconds('127.0.0.1')).toBe(0)
})

test('a plain GET is told to upgrade', async () => {
  await using world = await createWorld(quiet)
  const answer = await world.call('GET', '/ws', { key: null })
  expect(answer.headers.get('upgrade')).toBe('websocket')
  await expectError(answer, 426, 'Upgrade required')
})

const [PING, PONG] = [Uint8Array.of(0x89, 0x80, 0, 0, 0, 0), Uint8Array.of(0x8a, 0x80, 0, 0, 0, 0)]

test('a client may send 600 frames between two pings, control frames included; one more closes its socket with 1008', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  await using healthy = await listenTo(world.url, { apiKey: world.key })
  using talker = await openRawSocket(world.url)
  talker.send(JSON.stringify({ type: 'auth', apiKey: world.key }))
  await until(() => talker.text().includes('auth_ok'))
  const pongs = (): number => talker.text().split('\x8a\x00').length - 1
  for (const [round, frames] of [598, 599].entries()) {
    for (let frame = 0; frame < frames - 1; frame++) talker.send('chatter')
    for (const control of [PONG, PING]) talker.socket.write(control)
    await until(() => pongs() === round + 1)
    if (round === 0) clock.advance(30_000)
  }
  expect(world.gateway.sockets.count).toBe(2)
  talker.send('')
  await until(() => talker.text().includes('Too many messages'))
  expect(healthy.isOpen).toBe(true)
})

test('a client that floods the gateway before it authenticates is closed as well', async () => {
  await using world = await createWorld(quiet)
  await using fresh = await openSocket(world.url)
  for (let frame = 0; frame < 601; frame++) fresh.send('not JSON')
  expect((await fresh.closed).code).toBe(1008)
})
