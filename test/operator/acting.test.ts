import { describe, expect, test } from 'bun:test'
import { ROUTES } from '../../src/server/app.ts'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operate, signIn } from '../support/operator.ts'
import { type World, createWorld } from '../support/world.ts'

const quiet = { connect: false, work: false }
const UNKNOWN_APP = 'app_0000000000000000'

const as = (world: World, token: string, appId: string | null, method: string, path: string, body?: unknown) =>
  world.call(method, path, {
    key: token,
    headers: appId === null ? {} : { 'sgw-app': appId },
    ...(body === undefined ? {} : { body }),
  })

const IDS: Readonly<Record<string, string>> = {
  messageId: 'msg_0123456789ab',
  appId: UNKNOWN_APP,
  triggerId: 'trg_0123456789abcdef',
  tenantId: 'tenant_0123456789abcdef',
}
const pathOf = (path: string): string => path.replaceAll(/:(\w+)/g, (_, name: string) => IDS[name] ?? 'x')
const routesOf = (auth: string) =>
  ROUTES.filter((route) => route.auth === auth).map(({ method, path }) => [method, pathOf(path)] as const)

const changes = routesOf('app').filter(([verb]) => verb !== 'GET')
/** What an operator may take back for a tenant that is not active. */
const TAKING_BACK = ['DELETE /v1/sms/msg_0123456789ab', 'DELETE /v1/rc/extensions/x']
const refused = changes.filter(([method, path]) => !TAKING_BACK.includes(`${method} ${path}`))

describe('an operator’s token', () => {
  test('without Sgw-App is refused by every endpoint of apps, with a malformed or unknown one as well', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    expect(routesOf('app').length).toBeGreaterThan(40)
    for (const [method, path] of routesOf('app')) {
      await expectError(await as(world, token, null, method, path), 400, 'Sgw-App header is required')
      await expectError(await as(world, token, 'app_X', method, path), 400, 'Invalid appId format')
      await expectError(await as(world, token, UNKNOWN_APP, method, path), 404, 'App not found')
    }
  })

  test('with Sgw-App acts as that app, for two tenants', async () => {
    await using world = await createWorld(quiet)
    const other = await world.otherTenant()
    const { token } = await signIn(world)
    for (const { appId, tenantId, apiKey } of [world.app, other]) {
      const mine = await (await as(world, token, appId, 'GET', '/v1/apps')).json()
      expect(mine).toEqual(await (await world.call('GET', '/v1/apps', { key: apiKey })).json())
      const sent = await as(world, token, appId, 'POST', '/v1/sms/send', {
        from: '+15555550100',
        to: '+15555550199',
        body: `From ${tenantId}`,
      })
      expect(sent.status).toBe(202)
      const { body } = await world.json<{ messages: object[] }>('GET', '/v1/sms/messages', { key: apiKey })
      expect(body.messages).toMatchObject([{ appId, tenantId, body: `From ${tenantId}` }])
    }
    const foreign = await as(world, token, other.appId, 'PUT', `/v1/apps/${world.app.appId}`, { isActive: false })
    await expectError(foreign, 404, 'App not found')
  })

  test('does not count as a use of the app’s key', async () => {
    await using world = await createWorld({ ...quiet, env: { KEY_LIMIT_PER_MINUTE: '1' } })
    const { token } = await signIn(world)
    for (let times = 0; times < 3; times++)
      expect((await as(world, token, world.app.appId, 'GET', '/v1/me')).status).toBe(200)
    const { body } = await world.json<{ apps: { lastUsedAt: unknown }[] }>('GET', '/v1/apps')
    expect(body.apps.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null])
  })

  test('reads a tenant that is not active, cancels its messages and disconnects its extensions, and changes nothing else', async () => {
    await using world = await createWorld({ work: false })
    const { token } = await signIn(world)
    expect(refused).toHaveLength(changes.length - TAKING_BACK.length)
    world.control.addExtension({ extensionId: '4242', numbers: ['+15555550142'] })
    for (const status of ['suspended', 'inactive'] as const) {
      await world.connect({ extensionId: '4242' })
      const messageId = await world.send()
      await setTenantStatus(world.gateway, { tenantId: world.tenantId, status })
      const act = (method: string, path: string): Promise<Response> => as(world, token, world.app.appId, method, path)
      expect((await act('GET', '/v1/sms/messages')).status).toBe(200)
      for (const [method, path] of refused)
        await expectError(await act(method, path), 403, 'Tenant suspended or inactive')
      for (const path of [`/v1/sms/${messageId}`, '/v1/rc/extensions/4242'])
        expect(await (await act('DELETE', path)).json()).toEqual({ ok: true })
      expect(await (await act('GET', `/v1/sms/status/${messageId}`)).json()).toMatchObject({ status: 'failed' })
      expect(JSON.stringify(await (await act('GET', '/v1/rc/extensions')).json())).not.toContain('4242')
      await expectError(await act('DELETE', '/v1/rc/extensions/4242'), 404, 'Extension not found')
      await expectError(await world.call('DELETE', `/v1/sms/${messageId}`), 403, 'Tenant suspended or inactive')
      await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
    }
  })

  test('reads as an inactive app, and changes nothing as one', async () => {
    await using world = await createWorld(quiet)
    const second = await world.secondApp()
    await operate(world, 'POST', `/v1/operator/apps/${second.appId}/deactivate`)
    const { token } = await signIn(world)
    expect((await as(world, token, second.appId, 'GET', '/v1/sms/messages')).status).toBe(200)
    for (const [method, path] of changes)
      await expectError(await as(world, token, second.appId, method, path), 404, 'App not found')
  })

  test('answers 413 before a missing Sgw-App, and 404 for unknown paths', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    const large = 'x'.repeat(110_000)
    await expectError(await as(world, token, null, 'POST', '/v1/sms/send', large), 413, 'Payload too large')
    await expectError(await as(world, token, null, 'GET', '/v1/nothing'), 404, 'Not found')
    await expectError(await as(world, token, null, 'GET', '/v1/operator/nothing'), 404, 'Not found')
  })

  test('GET /v1/me tells since when a tenant is suspended, however often it is suspended', async () => {
    const clock = manualClock()
    await using world = await createWorld({ ...quiet, clock })
    const { token } = await signIn(world)
    const { appId, tenantId } = world.app
    const statusOf = async () => (await as(world, token, appId, 'GET', '/v1/me')).json()
    const since = clock.now()
    await setTenantStatus(world.gateway, { tenantId, status: 'suspended' })
    clock.advance(60_000)
    const again = await setTenantStatus(world.gateway, { tenantId, status: 'suspended' })
    expect(again.status).toBe('suspended')
    const tenantStatusSince = new Date(since).toISOString()
    expect(await statusOf()).toMatchObject({ tenantStatus: 'suspended', tenantStatusSince })
    await setTenantStatus(world.gateway, { tenantId, status: 'active' })
    const activeSince = new Date(since + 60_000).toISOString()
    expect(await statusOf()).toMatchObject({ tenantStatus: 'active', tenantStatusSince: activeSince })
    clock.advance(60_000)
    await world.call('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })
    expect(await statusOf()).toMatchObject({ tenantStatus: 'active', tenantStatusSince: activeSince })
    const nobody = await (await as(world, token, null, 'GET', '/v1/me')).json()
    expect(nobody).toMatchObject({ tenantStatus: null, tenantStatusSince: null })
  })

  test('GET /v1/me tells who acts', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    const nobody = { appId: null, tenantId: null, name: null, tenantName: null, operator: true, development: true }
    expect(await (await as(world, token, null, 'GET', '/v1/me')).json()).toMatchObject(nobody)
    expect(await (await as(world, token, world.app.appId, 'GET', '/v1/me')).json()).toMatchObject({
      appId: world.app.appId,
      tenantId: world.tenantId,
      name: 'First app',
      tenantName: 'First',
      operator: true,
    })
    await expectError(await as(world, token, 'x', 'GET', '/v1/me'), 400, 'Invalid appId format')
    await expectError(await as(world, token, UNKNOWN_APP, 'GET', '/v1/me'), 404, 'App not found')
    expect((await world.json('GET', '/v1/me')).body).toMatchObject({ operator: false, appId: world.app.appId })
  })
})

describe('an app’s key', () => {
  test('is refused by every operator’s endpoint, and by unknown paths there', async () => {
    await using world = await createWorld(quiet)
    const paths = [
      ...routesOf('operator'),
      ...['inbound', 'next', 'calls'].map((name) => ['GET', `/v1/operator/simulator/${name}`] as const),
      ['POST', '/v1/operator/links'],
      ['DELETE', '/v1/operator/sessions'],
      ['POST', '/v1/operator/erase'],
      ['GET', '/v1/operator/nothing'],
    ] as const
    expect(paths.length).toBeGreaterThan(15)
    for (const [method, path] of paths) {
      await expectError(await world.call(method, path), 403, 'Forbidden')
      await expectError(await world.call(method, path, { headers: { 'sgw-app': world.app.appId } }), 403, 'Forbidden')
    }
  })

  test('ignores Sgw-App: it names no other app', async () => {
    await using world = await createWorld(quiet)
    const other = await world.otherTenant()
    const { body } = await world.json('GET', '/v1/me', { headers: { 'sgw-app': other.appId } })
    expect(body).toMatchObject({ appId: world.app.appId, tenantId: world.tenantId, operator: false })
  })
})

test('what only this machine may do is not on the listener', async () => {
  await using world = await createWorld(quiet)
  const { token } = await signIn(world)
  for (const [method, path] of [
    ['POST', '/v1/operator/links'],
    ['DELETE', '/v1/operator/sessions'],
    ['POST', '/v1/operator/alerts/test'],
    ['POST', '/v1/operator/keys/rotate'],
    ['POST', '/v1/operator/compact'],
    ['POST', '/v1/operator/erase'],
    ['POST', '/v1/operator/send'],
    ['GET', '/v1/operator/events'],
  ] as const)
    await expectError(await as(world, token, null, method, path), 404, 'Not found')
})
