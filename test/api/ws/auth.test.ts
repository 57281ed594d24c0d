import { describe, expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { firstMessage, listenTo, openSocket } from '../../support/socket.ts'
import { type World, createWorld } from '../../support/world.ts'

const quiet = { connect: false, work: false }
const issue = async (world: World, key = world.key): Promise<string> =>
  (await world.json<{ token: string }>('POST', '/v1/ws/token', { key })).body.token

const refusal = (error: string): object => ({ messages: [{ type: 'auth_error', error }], code: 1008, reason: error })

test('a key can get a token, whose answer has its form and lifetime', async () => {
  await using world = await createWorld(quiet)
  const answer = await world.json('POST', '/v1/ws/token')
  expect(answer).toEqual({
    status: 200,
    body: { token: expect.stringMatching(/^wst_[A-Za-z0-9_-]{43}$/), expiresIn: 60 },
  })
  await expectError(await world.call('POST', '/v1/ws/token', { key: null }), 401, 'Missing or invalid API key')
  const { rows } = await world.gateway.database.gate.execute('SELECT token_hash FROM ws_tokens')
  expect(JSON.stringify(rows)).not.toContain('wst_')
})

test('a key and a token both authenticate', async () => {
  await using world = await createWorld(quiet)
  await using byKey = await listenTo(world.url, { apiKey: world.key })
  await using byToken = await listenTo(world.url, { token: await issue(world) })
  for (const socket of [byKey, byToken]) expect(socket.messages).toEqual([{ type: 'auth_ok' }])
})

describe('a first message that is refused and closes with 1008', () => {
  const cases: [string, unknown, string][] = [
    ['no JSON', 'hello', 'Invalid JSON'],
    ['half of it', '{"type":"auth"', 'Invalid JSON'],
    ['nothing', '', 'Invalid JSON'],
    ['binary', new TextEncoder().encode('{"type":"auth"}'), 'Invalid JSON'],
    ['a text', '"auth"', 'Send auth first'],
    ['a number', '7', 'Send auth first'],
    ['null', 'null', 'Send auth first'],
    ['a list', '[]', 'Send auth first'],
    ['an object without type', {}, 'Send auth first'],
    ['another type', { type: 'ping' }, 'Send auth first'],
    ['a key of 5,000 characters', { type: 'auth', apiKey: 'x'.repeat(5000) }, 'Invalid API key'],
    ['no credential', { type: 'auth' }, 'Invalid API key'],
    ['an unknown key', { type: 'auth', apiKey: `sgw_${'a'.repeat(43)}` }, 'Invalid API key'],
    ['a key of another form', { type: 'auth', apiKey: 'secret' }, 'Invalid API key'],
    ['a key that is not text', { type: 'auth', apiKey: { $ne: null } }, 'Invalid API key'],
    ['an unknown token', { type: 'auth', token: `wst_${'a'.repeat(43)}` }, 'Invalid or expired token'],
    ['a token of another form', { type: 'auth', token: 'secret' }, 'Invalid or expired token'],
    ['a token that is not text', { type: 'auth', token: 7 }, 'Invalid or expired token'],
  ]
  test.each(cases)('%s', async (_name, message, error) => {
    await using world = await createWorld(quiet)
    expect(await firstMessage(world.url, message)).toEqual(refusal(error) as never)
  })

  test('a key that is sent as a token, and a token that is sent as a key, are refused', async () => {
    await using world = await createWorld(quiet)
    expect(await firstMessage(world.url, { type: 'auth', token: world.key })).toEqual(
      refusal('Invalid or expired token') as never,
    )
    expect(await firstMessage(world.url, { type: 'auth', apiKey: await issue(world) })).toEqual(
      refusal('Invalid API key') as never,
    )
  })

  test('keys and tokens of a deactivated app and of a suspended tenant are refused', async () => {
    await using world = await createWorld(quiet)
    const second = await world.secondApp()
    const tokens = [await issue(world, second.apiKey), await issue(world)]
    await world.call('DELETE', `/v1/apps/${second.appId}`, { key: second.apiKey })
    expect(await firstMessage(world.url, { type: 'auth', apiKey: second.apiKey })).toEqual(
      refusal('Invalid API key') as never,
    )
    expect(await firstMessage(world.url, { type: 'auth', token: tokens[0] })).toEqual(
      refusal('Invalid or expired token') as never,
    )
    await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
    expect(await firstMessage(world.url, { type: 'auth', apiKey: world.key })).toEqual(
      refusal('Invalid API key') as never,
    )
    expect(await firstMessage(world.url, { type: 'auth', token: tokens[1] })).toEqual(
      refusal('Invalid or expired token') as never,
    )
  })
})

test('a socket without a message for 5 s is closed with: Send auth first', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  await using socket = await openSocket(world.url)
  clock.advance(4999)
  await using second = await openSocket(world.url)
  expect(socket.isOpen).toBe(true)
  clock.advance(1)
  expect(await socket.closed).toEqual({ code: 1008, reason: 'Send auth first' })
  expect(socket.messages).toEqual([{ type: 'auth_error', error: 'Send auth first' }])
  second.send({ type: 'auth', apiKey: world.key })
  expect(await second.received(1)).toEqual([{ type: 'auth_ok' }])
  clock.advance(20_000)
  expect(second.isOpen).toBe(true)
})

test('a token is valid for 60 s, and its connection stays open longer', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  const tokens = [await issue(world), await issue(world)]
  clock.advance(59_999)
  await using inTime = await listenTo(world.url, { token: tokens[0] ?? '' })
  clock.advance(1)
  expect(await firstMessage(world.url, { type: 'auth', token: tokens[1] })).toEqual(
    refusal('Invalid or expired token') as never,
  )
  expect(inTime.isOpen).toBe(true)
  await issue(world)
  const { rows } = await world.gateway.database.gate.execute('SELECT count(*) AS n FROM ws_tokens')
  expect(rows[0]?.['n']).toBe(1)
})

test('of ten sockets that use a token simultaneously, one is authenticated, in 200 rounds', async () => {
  await using world = await createWorld({ ...quiet, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  for (let round = 0; round < 200; round++) {
    const token = await issue(world)
    const from = (at: number): Record<string, string> => ({ 'x-forwarded-for': `10.${round}.${at}.1` })
    const sockets = await Promise.all(Array.from({ length: 10 }, (_, at) => openSocket(world.url, from(at))))
    for (const socket of sockets) socket.send({ type: 'auth', token })
    const answers = await Promise.all(sockets.map(async (socket) => (await socket.received(1))[0]))
    expect(answers.filter((answer) => answer?.['type'] === 'auth_ok')).toHaveLength(1)
    expect(answers.filter((answer) => answer?.['error'] === 'Invalid or expired token')).toHaveLength(9)
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()))
  }
}, 60_000)

test('messages sent while the credential is being checked are dropped', async () => {
  await using world = await createWorld(quiet)
  await using socket = await openSocket(world.url)
  for (const message of [
    { type: 'auth', apiKey: world.key },
    'garbage',
    { type: 'auth', apiKey: 'wrong' },
    new Uint8Array(100),
    { type: 'auth', apiKey: world.key },
  ]) {
    socket.send(message)
  }
  await socket.received(1)
  // When a later connection is answered, the messages of the earlier one have been read.
  await using _later = await listenTo(world.url, { apiKey: world.key })
  expect(socket.messages).toEqual([{ type: 'auth_ok' }])
  expect(socket.isOpen).toBe(true)
  expect(world.gateway.failedAttempts.blockedSeconds('127.0.0.1')).toBe(0)
})

test('a key that is revoked while it is being checked is refused', async () => {
  await using world = await createWorld(quiet)
  const { keys, hub } = world.gateway
  const find = keys.find.bind(keys)
  keys.find = async (key) => {
    const holder = await find(key)
    hub.revoke({ tenantId: world.tenantId })
    return holder
  }
  expect(await firstMessage(world.url, { type: 'auth', apiKey: world.key })).toEqual(
    refusal('Invalid API key') as never,
  )
})
