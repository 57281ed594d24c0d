import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { ask } from '../../support/raw-http.ts'
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
  // Without a Host the router finds this endpoint in the query.
  const hidden = ['GET /health/?a=xxx/v1/sms/status/msg_0123456789ab HTTP/1.0']
  expect(await ask(world.url, hidden)).toMatchObject({ status: 403, body: '{"error":"HTTPS required"}' })
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

test('outside production plain HTTP is served', async () => {
  await using world = await createWorld({ connect: false, work: false })
  expect((await get(world, { 'x-forwarded-proto': 'http' })).status).toBe(200)
})
