import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { expectError } from '../../support/expect-error.ts'
import { type World, createWorld } from '../../support/world.ts'

const NAME = 'name must be 1-100 characters'
const URL_ERROR = 'Invalid webhookUrl: must be https:// in production, max 2000 chars'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

const register = (world: World, change: object = {}): Promise<Response> =>
  world.call('POST', '/v1/apps/register', { body: { name: 'New app', tenantId: world.tenantId, ...change } })

test('registering an app returns its secrets once, and its key works', async () => {
  await using world = await quiet()
  const response = await register(world, { webhookUrl: 'https://hooks.example.com/x' })
  expect(response.status).toBe(201)
  const app = (await response.json()) as Record<string, string>
  expect(app).toEqual({
    appId: expect.stringMatching(/^app_[0-9a-f]{16}$/),
    name: 'New app',
    apiKey: expect.stringMatching(/^sgw_[A-Za-z0-9_-]{43}$/),
    apiKeyPrefix: String(app['apiKey']).slice(0, 12),
    webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    role: 'app',
    tenantId: world.tenantId,
  })
  const listed = await world.call('GET', '/v1/apps', { key: app['apiKey'] ?? '' })
  expect(listed.status).toBe(200)
  const text = await listed.text()
  for (const secret of [app['apiKey'], app['webhookSecret']]) expect(text).not.toContain(String(secret))
})

test('neither the key nor the webhook secret is stored in plain text', async () => {
  await using world = await quiet()
  const app = (await (await register(world)).json()) as Record<string, string>
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = Buffer.from(await Bun.file(`${world.folder}/sgw.db`).arrayBuffer())
  for (const secret of [app['apiKey'], app['webhookSecret']]) expect(bytes.includes(String(secret))).toBe(false)
})

/** Characters that forge lines of a terminal: C0, DEL, C1 and bidirectional controls. */
const CONTROLS = [
  '\u001b[2J',
  'a\u0007',
  'a\rb',
  'a\nb',
  'a\tb',
  '\u007f',
  'a\u009bb',
  'a\u202eb',
  '\u2066a',
  'a\u200fb',
  '\u061c',
]

test('the name has 1 to 100 characters after trimming', async () => {
  await using world = await quiet()
  for (const name of [undefined, null, 5, {}, [], '', '   ', 'x'.repeat(101), 'a\0b', ...CONTROLS])
    await expectError(await register(world, { name }), 400, NAME)
  await expectError(
    await world.call('POST', '/v1/apps/register', { body: `{"name":"\\ud800","tenantId":"${world.tenantId}"}` }),
    400,
    NAME,
  )
  expect(((await (await register(world, { name: `  ${'x'.repeat(100)}\n` })).json()) as { name: string }).name).toBe(
    'x'.repeat(100),
  )
  expect(((await (await register(world, { name: ' <b>Ünï 😀 ' })).json()) as { name: string }).name).toBe('<b>Ünï 😀')
})

test('the tenant id must be present, well-formed and known, in this order of errors', async () => {
  await using world = await quiet()
  for (const tenantId of [undefined, null, 5, {}, ''])
    await expectError(await register(world, { tenantId }), 400, 'tenantId is required when registering new apps')
  for (const tenantId of [
    'x',
    'tenant_',
    'tenant_0123456789ABCDEF',
    'tenant_0123456789abcde',
    ` ${world.tenantId}`,
    `${world.tenantId}\n`,
  ]) {
    await expectError(await register(world, { tenantId }), 400, 'Invalid tenantId format')
  }
  await expectError(
    await register(world, { tenantId: 'tenant_0123456789abcdef' }),
    400,
    'Tenant not found or not active',
  )
})

test('another tenant is forbidden if it is active, and not found otherwise', async () => {
  await using world = await quiet()
  const other = await world.otherTenant()
  await expectError(await register(world, { tenantId: other.tenantId }), 403, 'Forbidden')
  for (const status of ['suspended', 'inactive'] as const) {
    await setTenantStatus(world.gateway, { tenantId: other.tenantId, status })
    await expectError(await register(world, { tenantId: other.tenantId }), 400, 'Tenant not found or not active')
  }
})

test('of several errors, the first in the contract’s order is returned', async () => {
  await using world = await quiet()
  await expectError(await register(world, { name: '', tenantId: 'x', webhookUrl: 5, role: 'admin' }), 400, NAME)
  await expectError(
    await register(world, { tenantId: null, webhookUrl: 5 }),
    400,
    'tenantId is required when registering new apps',
  )
  await expectError(await register(world, { tenantId: 'x', webhookUrl: 5 }), 400, 'Invalid tenantId format')
})

test('only the role app exists', async () => {
  await using world = await quiet()
  for (const role of ['admin', 'APP', '', 5, {}]) await expectError(await register(world, { role }), 403, 'Forbidden')
  for (const role of ['app', undefined])
    expect(((await (await register(world, { role })).json()) as { role: string }).role).toBe('app')
})

test('webhookUrl is an http(s) address of at most 2000 characters, null or absent', async () => {
  await using world = await quiet()
  const longest = `https://hooks.example.com/${'x'.repeat(1974)}`
  expect(longest).toHaveLength(2000)
  const bad = [
    '',
    ' ',
    'x',
    5,
    {},
    [],
    true,
    'ftp://example.com',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://',
    'https://user:pass@example.com/',
    `${longest}x`,
    'http://169.254.169.254/latest',
    'http://0.0.0.0/',
  ]
  for (const webhookUrl of bad) await expectError(await register(world, { webhookUrl }), 400, URL_ERROR)
  for (const webhookUrl of [null, undefined, 'https://hooks.example.com/x?y=1', 'http://hooks.example.com', longest]) {
    expect((await register(world, { webhookUrl })).status).toBe(201)
  }
})

test('in production a webhook address must be HTTPS and public', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
  const tryUrl = (webhookUrl: string): Promise<Response> =>
    world.call('POST', '/v1/apps/register', {
      body: { name: 'New', tenantId: world.tenantId, webhookUrl },
      headers: { 'x-forwarded-proto': 'https' },
    })
  for (const url of [
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
  ]) {
    await expectError(await tryUrl(url), 400, URL_ERROR)
  }
  expect((await tryUrl('https://hooks.example.com/')).status).toBe(201)
})

test('a body that is not an object lacks a name; broken JSON is Invalid JSON', async () => {
  await using world = await quiet()
  for (const body of ['[]', '"x"', '5', 'null', ''])
    await expectError(await world.call('POST', '/v1/apps/register', { body }), 400, NAME)
  await expectError(await world.call('POST', '/v1/apps/register', { body: '{' }), 400, 'Invalid JSON')
})

test('a refused registration stores nothing', async () => {
  await using world = await quiet()
  await register(world, { name: '' })
  await register(world, { role: 'admin' })
  await register(world, { webhookUrl: '' })
  expect((await world.json<{ apps: unknown[] }>('GET', '/v1/apps')).body.apps).toHaveLength(1)
})
