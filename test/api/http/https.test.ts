import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { ask } from '../../support/raw-http.ts'
import { listenTo } from '../../support/socket.ts'
import { type World, createWorld } from '../../support/world.ts'

const production = (env: Record<string, string> = {}): Promise<World> =>
  createWorld({ env: { NODE_ENV: 'production', ...env } })

const get = (world: World, headers: Record<string, string>, path = '/v1/apps'): Promise<Response> =>
  world.call('GET', path, { headers })

test('in production plain HTTP is refused on every path but health', async () => {
  await using world = await production()
  for (const path of [
    '/v1/apps',
    '/v1/rc/connect',
    '/v1/rc/callback',
    '/ws',
    '/nothing',
    '/',
    '/docs',
    '/healthy',
    '/health/x',
  ]) {
    await expectError(await get(world, {}, path), 403, 'HTTPS required')
  }
  await expectError(await world.call('POST', '/v1/webhooks/provider', { key: null }), 403, 'HTTPS required')
  expect((await get(world, {}, '/health')).status).toBe(200)
  // Without a Host the router finds the endpoint in the query.
  const refused = { status: 403, body: '{"error":"HTTPS required"}' }
  const health = { status: 200, body: '{"status":"ok"}' }
  const ofMessage = 'xxx/v1/sms/status/msg_0123456789ab'
  expect(await ask(world.url, [`GET /nothing?a=${ofMessage} HTTP/1.0`])).toMatchObject(refused)
  expect(await ask(world.url, [`GET /v1/apps/?a=xxxxxxxxx/health HTTP/1.0`])).toMatchObject(refused)
  expect(await ask(world.url, [`GET /health/?a=${ofMessage} HTTP/1.0`])).toMatchObject(health)
})

test('only a trusted proxy’s X-Forwarded-Proto makes a request secure', async () => {
  await using world = await production()
  await expectError(await get(world, { 'x-forwarded-proto': 'https' }), 403, 'HTTPS required')
})

test('the last of several X-Forwarded-Proto values of a trusted proxy counts', async () => {
  await using world = await production({ TRUSTED_PROXIES: '127.0.0.1' })
  for (const proto of ['https', 'HTTPS', 'http, https'])
    expect((await get(world, { 'x-forwarded-proto': proto })).status).toBe(200)
  for (const proto of ['http', '', 'https, http', 'wss'])
    await expectError(await get(world, { 'x-forwarded-proto': proto }), 403, 'HTTPS required')
  await expectError(await get(world, {}), 403, 'HTTPS required')
})

test('of several X-Forwarded-Proto headers the last counts, and Forwarded says nothing', async () => {
  await using world = await production({ TRUSTED_PROXIES: '127.0.0.1' })
  const statusOf = async (...lines: string[]): Promise<number> =>
    (await ask(world.url, ['GET /docs HTTP/1.1', 'Host: sms.example.com', ...lines])).status
  expect(await statusOf('X-Forwarded-Proto: http', 'X-Forwarded-Proto: https')).toBe(200)
  expect(await statusOf('X-Forwarded-Proto: https', 'X-Forwarded-Proto: http')).toBe(403)
  expect(await statusOf('Forwarded: for=203.0.113.7;proto=https')).toBe(403)
  expect(await statusOf('X-Forwarded-Proto: http', 'Forwarded: proto=https')).toBe(403)
})

test('for the upgrade to a WebSocket a trusted proxy may say wss instead of https, as Traefik does', async () => {
  await using world = await production({ TRUSTED_PROXIES: '127.0.0.1' })
  for (const proto of ['wss', 'WSS', 'ws, wss', 'http, wss', 'https']) {
    await using socket = await listenTo(world.url, { apiKey: world.key }, { 'x-forwarded-proto': proto })
    expect(socket.isOpen).toBe(true)
  }
  for (const proto of ['ws', 'http', 'wss, ws', 'https, ws', 'wss, http', 'wsss'])
    await expectError(await upgrade(world, proto), 403, 'HTTPS required')
  await expectError(await get(world, { 'x-forwarded-proto': 'wss' }, '/ws'), 403, 'HTTPS required')
  await expectError(await get(world, { 'x-forwarded-proto': 'wss', upgrade: 'h2c' }), 403, 'HTTPS required')
})

test('wss of a peer that is not trusted opens no WebSocket', async () => {
  await using world = await production()
  await expectError(await upgrade(world, 'wss'), 403, 'HTTPS required')
})

/** Asks for a WebSocket. Only for requests that are refused: `fetch` cannot read what follows a 101. */
const upgrade = (world: World, proto: string): Promise<Response> =>
  get(world, { 'x-forwarded-proto': proto, connection: 'upgrade', upgrade: 'websocket' }, '/ws')

test('outside production plain HTTP is served', async () => {
  await using world = await createWorld({ connect: false, work: false })
  expect((await get(world, { 'x-forwarded-proto': 'http' })).status).toBe(200)
})
