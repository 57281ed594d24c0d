import { describe, expect, test } from 'bun:test'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { expectError } from '../support/expect-error.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

/** One row of the contract's table of errors. */
interface Row {
  status: number
  error: string
  on: string
  ask(world: World): Promise<Response>
}

const MISSING_APP = 'app_0123456789abcdef'
const MISSING_MESSAGE = 'msg_0123456789ab'
const BAD_URL = 'Invalid webhookUrl: must be https:// in production, max 2000 chars'

const send = (world: World, message: object): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body: 'Hello', ...message } })

const register = (world: World, input: object): Promise<Response> =>
  world.call('POST', '/v1/apps/register', { body: { name: 'New', tenantId: world.tenantId, ...input } })

const ROWS: readonly Row[] = [
  { status: 400, error: 'to, from, and body are required', on: 'send', ask: (world) => send(world, { to: undefined }) },
  {
    status: 400,
    error: 'to and from must be valid E.164 phone numbers',
    on: 'send',
    ask: (world) => send(world, { to: '5555550199' }),
  },
  { status: 400, error: 'body must be 1-1600 characters', on: 'send', ask: (world) => send(world, { body: '' }) },
  {
    status: 400,
    error: 'Invalid messageId format',
    on: 'status',
    ask: (world) => world.call('GET', '/v1/sms/status/msg_1'),
  },
  {
    status: 400,
    error: 'Invalid messageId format',
    on: 'timeline',
    ask: (world) => world.call('GET', '/v1/sms/msg_1/timeline'),
  },
  {
    status: 400,
    error: 'Invalid include',
    on: 'messages',
    ask: (world) => world.call('GET', '/v1/sms/messages?include=everything'),
  },
  {
    status: 400,
    error: 'Invalid messageId format',
    on: 'cancel',
    ask: (world) => world.call('DELETE', '/v1/sms/msg_1'),
  },
  {
    status: 400,
    error: 'name must be 1-100 characters',
    on: 'register',
    ask: (world) => register(world, { name: '' }),
  },
  {
    status: 400,
    error: 'tenantId is required when registering new apps',
    on: 'register',
    ask: (world) => register(world, { tenantId: undefined }),
  },
  {
    status: 400,
    error: 'Invalid tenantId format',
    on: 'register',
    ask: (world) => register(world, { tenantId: 'tenant_1' }),
  },
  {
    status: 400,
    error: 'Tenant not found or not active',
    on: 'register',
    ask: (world) => register(world, { tenantId: 'tenant_0123456789abcdef' }),
  },
  {
    status: 400,
    error: BAD_URL,
    on: 'register',
    ask: (world) => register(world, { webhookUrl: 'ftp://example.com/' }),
  },
  {
    status: 400,
    error: BAD_URL,
    on: 'update',
    ask: (world) => world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: 'nonsense' } }),
  },
  {
    status: 400,
    error: 'Invalid appId format',
    on: 'update',
    ask: (world) => world.call('PUT', '/v1/apps/app_1', { body: {} }),
  },
  { status: 400, error: 'Invalid appId format', on: 'delete', ask: (world) => world.call('DELETE', '/v1/apps/app_1') },
  {
    status: 400,
    error: 'Invalid appId format',
    on: 'rotate-key',
    ask: (world) => world.call('POST', '/v1/apps/app_1/rotate-key'),
  },
  {
    status: 400,
    error: 'Invalid appId format',
    on: 'rotate-webhook-secret',
    ask: (world) => world.call('POST', '/v1/apps/app_1/rotate-webhook-secret'),
  },
  {
    status: 400,
    error: 'Invalid appId format',
    on: 'test-webhook',
    ask: (world) => world.call('POST', '/v1/apps/app_1/test-webhook'),
  },
  {
    status: 400,
    error: 'App has no webhookUrl configured',
    on: 'test-webhook',
    ask: (world) => world.call('POST', `/v1/apps/${world.app.appId}/test-webhook`),
  },
  {
    status: 400,
    error: 'Missing code or state parameter',
    on: 'callback',
    ask: (world) => world.call('GET', '/v1/rc/callback', { key: null }),
  },
  {
    status: 401,
    error: 'Missing or invalid API key',
    on: 'no header',
    ask: (world) => world.call('GET', '/v1/apps', { key: null }),
  },
  {
    status: 401,
    error: 'Missing or invalid API key',
    on: 'another scheme',
    ask: (world) => world.call('GET', '/v1/apps', { key: null, headers: { authorization: 'Basic c2d3Xzo=' } }),
  },
  {
    status: 401,
    error: 'Missing or invalid API key',
    on: 'another prefix',
    ask: (world) => world.call('GET', '/v1/apps', { key: 'sk_live' }),
  },
  {
    status: 401,
    error: 'Invalid API key',
    on: 'a key of no app',
    ask: (world) => world.call('GET', '/v1/apps', { key: 'sgw_nobody' }),
  },
  {
    status: 403,
    error: 'Forbidden',
    on: 'register for another tenant',
    ask: async (world) => register(world, { tenantId: (await world.otherTenant()).tenantId }),
  },
  {
    status: 404,
    error: 'Message not found',
    on: 'status',
    ask: (world) => world.call('GET', `/v1/sms/status/${MISSING_MESSAGE}`),
  },
  {
    status: 404,
    error: 'Message not found',
    on: 'timeline',
    ask: (world) => world.call('GET', `/v1/sms/${MISSING_MESSAGE}/timeline`),
  },
  {
    status: 404,
    error: 'Message not found',
    on: 'cancel',
    ask: (world) => world.call('DELETE', `/v1/sms/${MISSING_MESSAGE}`),
  },
  {
    status: 404,
    error: 'App not found',
    on: 'update',
    ask: (world) => world.call('PUT', `/v1/apps/${MISSING_APP}`, { body: {} }),
  },
  {
    status: 404,
    error: 'App not found',
    on: 'delete',
    ask: (world) => world.call('DELETE', `/v1/apps/${MISSING_APP}`),
  },
  {
    status: 404,
    error: 'App not found',
    on: 'rotate-key',
    ask: (world) => world.call('POST', `/v1/apps/${MISSING_APP}/rotate-key`),
  },
  {
    status: 404,
    error: 'App not found',
    on: 'rotate-webhook-secret',
    ask: (world) => world.call('POST', `/v1/apps/${MISSING_APP}/rotate-webhook-secret`),
  },
  {
    status: 404,
    error: 'App not found',
    on: 'test-webhook',
    ask: (world) => world.call('POST', `/v1/apps/${MISSING_APP}/test-webhook`),
  },
  { status: 404, error: 'Not found', on: 'an unknown path', ask: (world) => world.call('GET', '/v1/nothing') },
  { status: 413, error: 'Payload too large', on: 'send', ask: (world) => send(world, { body: 'x'.repeat(102_400) }) },
]

describe('the contract’s table of errors', () => {
  for (const { status, error, on, ask } of ROWS) {
    test(`${status} ${error} (${on})`, async () => {
      await using world = await createWorld({ connect: false, work: false })
      await expectError(await ask(world), status, error)
    })
  }

  for (const status of ['suspended', 'inactive'] as const) {
    test(`403 Tenant suspended or inactive (${status})`, async () => {
      await using world = await createWorld({ connect: false, work: false })
      expect((await world.call('GET', '/v1/apps')).status).toBe(200)
      await setTenantStatus(world.gateway, { tenantId: world.tenantId, status })
      await expectError(await world.call('GET', '/v1/apps'), 403, 'Tenant suspended or inactive')
      await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
      expect((await world.call('GET', '/v1/apps')).status).toBe(200)
    })
  }

  test('403 HTTPS required (plain HTTP in production)', async () => {
    await using world = await createWorld({ env: { NODE_ENV: 'production' } })
    await expectError(await world.call('GET', '/v1/apps'), 403, 'HTTPS required')
  })

  test('429 Too many requests (key limit)', async () => {
    await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '1' } })
    expect((await world.call('GET', '/v1/apps')).status).toBe(200)
    const refused = await world.call('GET', '/v1/apps')
    expect(refused.headers.get('retry-after')).toBe('60')
    await expectError(refused, 429, 'Too many requests')
  })

  test('400 Missing token and Invalid or expired token (pages)', async () => {
    await using world = await createWorld({ connect: false, work: false })
    for (const [query, text] of [
      ['', 'Missing token'],
      ['?token=', 'Missing token'],
      ['?token=nonsense', 'Invalid or expired token'],
    ] as const) {
      const page = await world.call('GET', `/v1/rc/connect${query}`, { key: null })
      expect(page.status).toBe(400)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await page.text()).toContain(`<h1>${text}</h1>`)
    }
  })

  test('500 Internal server error does not reveal the cause', async () => {
    await using world = await createWorld({ connect: false, work: false })
    world.gateway.directory.tenant = () => Promise.reject(new Error('the password is hunter2'))
    await expectError(
      await world.call('GET', '/v1/rc/status', { headers: { 'x-request-id': 'trace-1' } }),
      500,
      'Internal server error',
    )
  })
})
