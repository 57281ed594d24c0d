import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld } from '../../support/world.ts'

const URL_ERROR = 'Invalid webhookUrl: must be https:// in production, max 2000 chars'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

const put = (world: World, body: unknown): Promise<Response> =>
  world.call('PUT', `/v1/apps/${world.app.appId}`, { body })

async function expectOk(response: Response): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { ok: true } })
}

async function ownApp(world: World, key = world.key): Promise<Record<string, unknown>> {
  const { body } = await world.json<{ apps: Record<string, unknown>[] }>('GET', '/v1/apps', { key })
  return body.apps.find((app) => app['appId'] === world.app.appId) ?? {}
}

test('webhookUrl is set, changed and removed', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  clock.advance(1000)
  await expectOk(await put(world, { webhookUrl: 'https://hooks.example.com/1' }))
  expect(await ownApp(world)).toMatchObject({
    webhookUrl: 'https://hooks.example.com/1',
    isActive: true,
    updatedAt: '2026-11-21T02:30:01.000Z',
  })
  await expectOk(await put(world, { webhookUrl: 'https://hooks.example.com/2' }))
  expect(await ownApp(world)).toMatchObject({ webhookUrl: 'https://hooks.example.com/2' })
  await expectOk(await put(world, { webhookUrl: null }))
  expect(await ownApp(world)).toMatchObject({ webhookUrl: null })
})

test('an empty object, isActive: true and unknown fields change nothing', async () => {
  await using world = await quiet()
  await put(world, { webhookUrl: 'https://hooks.example.com/1' })
  const before = await ownApp(world)
  for (const body of [{}, { isActive: true }, { name: 'Other', role: 'admin', tenantId: 'x' }, undefined])
    await expectOk(await put(world, body))
  expect({ ...(await ownApp(world)), lastUsedAt: null }).toEqual({ ...before, lastUsedAt: null })
})

test('a bad webhookUrl is refused and changes nothing; only null removes the address', async () => {
  await using world = await quiet()
  await put(world, { webhookUrl: 'https://hooks.example.com/1' })
  for (const webhookUrl of [
    '',
    5,
    {},
    [],
    Array(101).fill('x'),
    'x',
    `https://hooks.example.com/${'x'.repeat(2000)}`,
  ]) {
    await expectError(await put(world, { webhookUrl }), 400, URL_ERROR)
    await expectError(await put(world, { webhookUrl, isActive: false }), 400, URL_ERROR)
  }
  expect(await ownApp(world)).toMatchObject({ webhookUrl: 'https://hooks.example.com/1', isActive: true })
})

test('isActive must be a boolean', async () => {
  await using world = await quiet()
  for (const isActive of ['false', 0, 1, null, {}])
    await expectError(await put(world, { isActive }), 400, 'isActive must be a boolean')
  expect(await ownApp(world)).toMatchObject({ isActive: true })
})

test('a body that is not an object is Invalid JSON', async () => {
  await using world = await quiet()
  for (const body of ['[]', 'null', '"x"', '5', '{']) await expectError(await put(world, body), 400, 'Invalid JSON')
})

for (const [how, deactivate] of [
  ['PUT isActive:false', (world: World) => put(world, { isActive: false })],
  ['DELETE', (world: World) => world.call('DELETE', `/v1/apps/${world.app.appId}`)],
] as const) {
  test(`${how} deactivates the app: its key stops working at once, and the app stays listed`, async () => {
    await using world = await quiet()
    const second = await world.secondApp()
    await expectOk(await deactivate(world))
    await expectError(await world.call('GET', '/v1/apps'), 401, 'Invalid API key')
    expect(await ownApp(world, second.apiKey)).toMatchObject({ isActive: false })
  })
}

test('a request that sets an address and deactivates keeps the address for the next activation', async () => {
  await using world = await quiet()
  const second = await world.secondApp()
  await expectOk(await put(world, { webhookUrl: 'https://hooks.example.com/1', isActive: false }))
  expect(await ownApp(world, second.apiKey)).toMatchObject({
    webhookUrl: 'https://hooks.example.com/1',
    isActive: false,
  })
})

test('every other app, also of the same tenant, is not found and does not change', async () => {
  await using world = await quiet()
  const second = await world.secondApp()
  const other = await world.otherTenant()
  for (const { appId, apiKey } of [second, other]) {
    const asks = [
      world.call('PUT', `/v1/apps/${appId}`, { body: { isActive: false } }),
      world.call('DELETE', `/v1/apps/${appId}`),
      world.call('POST', `/v1/apps/${appId}/rotate-key`),
      world.call('POST', `/v1/apps/${appId}/rotate-webhook-secret`),
      world.call('POST', `/v1/apps/${appId}/test-webhook`),
    ]
    for (const response of await Promise.all(asks)) await expectError(response, 404, 'App not found')
    expect((await world.call('GET', '/v1/apps', { key: apiKey })).status).toBe(200)
  }
})

test('an app id is app_ and 16 lower-case hex digits', async () => {
  await using world = await quiet()
  for (const id of [
    'app_',
    'app_0123456789ABCDEF',
    'app_0123456789abcde',
    'app_0123456789abcdef0',
    'tenant_0123456789abcdef',
    'register%00',
    '%zz',
    'app_0123456789abcdef%0a',
  ]) {
    await expectError(await world.call('PUT', `/v1/apps/${id}`, { body: {} }), 400, 'Invalid appId format')
    await expectError(await world.call('POST', `/v1/apps/${id}/rotate-key`), 400, 'Invalid appId format')
  }
})
