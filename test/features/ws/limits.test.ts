import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { type SocketClient, firstMessage, listenTo, openSocket } from '../../support/socket.ts'
import { createWorld } from '../../support/world.ts'

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
    // No credential was presented: not counted.
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

test('20 sockets of one address may wait to authenticate; others come in when one has', async () => {
  await using world = await createWorld({ ...quiet, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  await using stack = new AsyncDisposableStack()
  const open = async (address: string): Promise<SocketClient> =>
    stack.use(await openSocket(world.url, { 'x-forwarded-for': address }))
  const waiting: SocketClient[] = []
  for (let count = 0; count < 20; count++) waiting.push(await open('203.0.113.1'))
  const full = await world.call('GET', '/ws', {
    key: null,
    headers: { upgrade: 'websocket', 'x-forwarded-for': '203.0.113.1' },
  })
  await expectError(full, 503, 'Too many connections wait to authenticate')
  await open('203.0.113.2')
  waiting[0]?.send({ type: 'auth', apiKey: world.key })
  await waiting[0]?.heard(1)
  await waiting[1]?.[Symbol.asyncDispose]()
  await open('203.0.113.1')
  await open('203.0.113.1')
  expect(await refused(openSocket(world.url, { 'x-forwarded-for': '203.0.113.1' }))).toBe(true)
})

test('1,000 sockets may wait in all', async () => {
  await using world = await createWorld({ ...quiet, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  await using stack = new AsyncDisposableStack()
  for (let group = 0; group < 50; group++) {
    const address = `203.0.113.${group}`
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => openSocket(world.url, { 'x-forwarded-for': address })),
    )
    for (const socket of sockets) stack.use(socket)
  }
  await expectError(
    await world.call('GET', '/ws', { key: null, headers: { 'x-forwarded-for': '198.51.100.1' } }),
    503,
    'Too many connections wait to authenticate',
  )
})

test('a plain GET is told to upgrade', async () => {
  await using world = await createWorld(quiet)
  const answer = await world.call('GET', '/ws', { key: null })
  expect(answer.headers.get('upgrade')).toBe('websocket')
  await expectError(answer, 426, 'Upgrade required')
})
