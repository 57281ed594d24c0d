import { expect, test } from 'bun:test'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import { type SocketMessage, listenTo, openSocket } from '../support/socket.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

const tokenFor = async (world: World, key: string): Promise<string> =>
  (await world.json<{ token: string }>('POST', '/v1/ws/token', { key })).body.token

test('a socket receives the statuses of its app and the inbound messages of its tenant, and nothing else', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant()
  const second = await world.secondApp()
  await using mine = await listenTo(world.url, { apiKey: world.key })
  await using mineByToken = await listenTo(world.url, { token: await tokenFor(world, world.key) })
  await using sister = await listenTo(world.url, { apiKey: second.apiKey })
  await using foreign = await listenTo(world.url, { apiKey: other.apiKey })
  for (const app of [world.app, second, other]) await world.send({}, { key: app.apiKey })
  for (const { tenantId } of [world.app, other]) {
    await storeInbound(world.gateway, {
      tenantId,
      extensionId: '1',
      providerMessageId: '5',
      from: TO,
      to: FROM,
      text: tenantId,
    })
  }
  for (const [socket, app] of [
    [mine, world.app],
    [mineByToken, world.app],
    [sister, second],
    [foreign, other],
  ] as const) {
    // The socket gets auth_ok, one status of its app and one inbound message of its tenant, and never a fourth event.
    await socket.received(3)
    expect(socket.messages.slice(1).map(ownerOf)).toEqual([
      `${app.tenantId} ${app.appId}`,
      `${app.tenantId} ${app.tenantId}`,
    ])
  }
  await world.send({}, { key: world.key })
  await mine.received(4)
  expect([sister, foreign].map((socket) => socket.messages.length)).toEqual([3, 3])
})

/** Returns the tenant of an event, with the app of a status or the text of an inbound message. */
const ownerOf = (message: SocketMessage): string =>
  `${String(message['tenantId'])} ${String(message['appId'] ?? message['body'])}`

test('foreign, unknown and malformed credentials get the same refusal', async () => {
  await using world = await createWorld({ connect: false, work: false })
  world.gateway.failedAttempts.note = () => undefined
  const other = await world.otherTenant()
  const used = await tokenFor(world, other.apiKey)
  await (await listenTo(world.url, { token: used }))[Symbol.asyncDispose]()
  const { body } = await world.json<{ connectUrl: string }>('POST', '/v1/rc/connect-token')
  const connectToken = body.connectUrl.split('=')[1] ?? ''
  const long = 'x'.repeat(3000)
  const keys = [
    'sgw_',
    `sgw_${'A'.repeat(43)}`,
    world.key.slice(0, -1),
    `${world.key}x`,
    world.key.toUpperCase(),
    world.app.apiKeyPrefix,
    `Bearer ${world.key}`,
    ` ${world.key}`,
    `${world.key}\0`,
    used,
    '',
    null,
    1,
    [world.key],
    { $ne: '' },
    long,
  ]
  const tokens = [
    'wst_',
    `wst_${'A'.repeat(43)}`,
    used,
    used.slice(0, -1),
    world.key,
    connectToken,
    `wst_${connectToken}`,
    '',
    null,
    0,
    [used],
    {},
    long,
  ]
  const refused = async (message: object): Promise<string> => {
    await using socket = await openSocket(world.url)
    socket.send({ type: 'auth', ...message })
    const [first] = await socket.received(1)
    return `${JSON.stringify(first)} ${(await socket.closed).code}`
  }
  for (const apiKey of keys)
    expect(await refused({ apiKey })).toBe('{"type":"auth_error","error":"Invalid API key"} 1008')
  for (const token of tokens)
    expect(await refused({ token })).toBe('{"type":"auth_error","error":"Invalid or expired token"} 1008')
})

test('of 200 sockets that use a token simultaneously, one is authenticated', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const token = await tokenFor(world, world.key)
  // Each socket has an address of its own, because an address may have twenty unauthenticated sockets and is blocked
  // after ten failures.
  const sockets = await Promise.all(
    Array.from({ length: 200 }, (_, n) => openSocket(world.url, { 'x-forwarded-for': `198.51.100.${n}` })),
  )
  for (const socket of sockets) socket.send({ type: 'auth', token })
  const answers = await Promise.all(sockets.map(async (socket) => (await socket.received(1))[0]?.['type']))
  expect(answers.filter((type) => type === 'auth_ok').length).toBe(1)
  await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()))
})

test('rotating a key closes its sockets and deletes its unused tokens', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const token = await tokenFor(world, world.key)
  await using listener = await listenTo(world.url, { apiKey: world.key })
  await world.json('POST', `/v1/apps/${world.app.appId}/rotate-key`)
  expect((await listener.closed).code).toBe(1008)
  await using late = await openSocket(world.url)
  late.send({ type: 'auth', token })
  expect(await late.received(1)).toEqual([{ type: 'auth_error', error: 'Invalid or expired token' }])
})

test('a credential that is revoked while it is being checked is refused', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const token = await tokenFor(world, world.key)
  await using socket = await openSocket(world.url)
  const find = world.gateway.keys.find.bind(world.gateway.keys)
  let revoke: Promise<unknown> = Promise.resolve()
  world.gateway.keys.find = async (key) => {
    const holder = await find(key)
    world.gateway.keys.find = find
    revoke = world.call('POST', `/v1/apps/${world.app.appId}/rotate-key`)
    await revoke
    return holder
  }
  socket.send({ type: 'auth', apiKey: world.key })
  expect(await socket.received(1)).toEqual([{ type: 'auth_error', error: 'Invalid API key' }])
  expect((await socket.closed).code).toBe(1008)
  await using late = await openSocket(world.url)
  late.send({ type: 'auth', token })
  expect(await late.received(1)).toEqual([{ type: 'auth_error', error: 'Invalid or expired token' }])
})
