import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { expectError } from '../support/expect-error.ts'
import { type World, createWorld } from '../support/world.ts'

// The order of the checks is HTTPS → address block → 401 → 403 → 429 → 413 → 400/404. Each test violates two adjacent
// checks at once.

const BIG = 'x'.repeat(102_401)
const HTTPS = { 'x-forwarded-proto': 'https' }

async function block(world: World, headers: Record<string, string> = {}): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) await world.call('GET', '/v1/apps', { key: 'sgw_wrong', headers })
}

test('HTTPS comes before the address block', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
  await block(world, HTTPS)
  await expectError(await world.call('GET', '/v1/apps', { headers: HTTPS }), 429, 'Too many requests')
  await expectError(await world.call('GET', '/v1/apps'), 403, 'HTTPS required')
})

test('requests over plain HTTP do not count towards a block, because their key is not checked', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
  await block(world)
  expect((await world.call('GET', '/v1/apps', { headers: HTTPS })).status).toBe(200)
})

test('the address block comes before 401', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await block(world)
  await expectError(await world.call('GET', '/v1/apps', { key: null }), 429, 'Too many requests')
  await expectError(await world.call('GET', '/v1/apps', { key: 'sgw_wrong' }), 429, 'Too many requests')
})

test('401 comes before 403', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await world.gateway.database.writer.write([{ sql: 'UPDATE apps SET is_active = 0', args: [] }])
  world.gateway.keys.forget()
  await expectError(await world.call('GET', '/v1/apps'), 401, 'Invalid API key')
})

test('403 comes before 429 and does not count towards the key’s limit', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '1' } })
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await expectError(await world.call('GET', '/v1/apps'), 403, 'Tenant suspended or inactive')
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  await expectError(await world.call('GET', '/v1/apps'), 429, 'Too many requests')
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await expectError(await world.call('GET', '/v1/apps'), 403, 'Tenant suspended or inactive')
})

test('429 comes before 413', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '1' } })
  await expectError(await world.call('POST', '/v1/sms/send', { body: BIG }), 413, 'Payload too large')
  await expectError(await world.call('POST', '/v1/sms/send', { body: BIG }), 429, 'Too many requests')
})

test('413 comes before 400 and 404', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await expectError(await world.call('POST', '/v1/sms/send', { body: BIG }), 413, 'Payload too large')
  await expectError(await world.call('PUT', '/v1/apps/app_1', { body: BIG }), 413, 'Payload too large')
  await expectError(await world.call('PUT', '/v1/apps/app_0123456789abcdef', { body: BIG }), 413, 'Payload too large')
  await expectError(await world.call('POST', '/v1/nothing', { body: BIG }), 413, 'Payload too large')
})

test('401 comes before 413, 400 and 404: the body of an unauthenticated request is not read', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await expectError(
    await world.call('POST', '/v1/sms/send', { key: null, body: BIG }),
    401,
    'Missing or invalid API key',
  )
  await expectError(
    await world.call('POST', '/v1/sms/send', { key: null, body: '{' }),
    401,
    'Missing or invalid API key',
  )
  await expectError(
    await world.call('GET', '/v1/sms/status/nonsense', { key: null }),
    401,
    'Missing or invalid API key',
  )
  await expectError(await world.call('GET', '/v1/nothing', { key: null }), 401, 'Missing or invalid API key')
})
