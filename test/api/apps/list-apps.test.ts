import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const list = async (world: World, key = world.key): Promise<Record<string, unknown>[]> =>
  (await world.json<{ apps: Record<string, unknown>[] }>('GET', '/v1/apps', { key })).body.apps

test('an app has the contract’s fields and no others', async () => {
  await using world = await createWorld({ connect: false, work: false, clock: manualClock() })
  const at = '2026-11-21T02:30:00.000Z'
  const [app] = await list(world)
  expect(app).toEqual({
    appId: world.app.appId,
    tenantId: world.tenantId,
    name: 'First app',
    webhookUrl: null,
    role: 'app',
    isActive: true,
    apiKeyPrefix: world.key.slice(0, 12),
    lastUsedAt: app?.['lastUsedAt'] ?? null,
    createdAt: at,
    updatedAt: at,
  })
})

test('the list has all apps of the tenant, also inactive ones, oldest first, and no app of other tenants', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const second = await world.secondApp()
  await world.otherTenant()
  await world.call('DELETE', `/v1/apps/${second.appId}`, { key: second.apiKey })
  const apps = await list(world)
  expect(apps.map((app) => [app['appId'], app['isActive']])).toEqual([
    [world.app.appId, true],
    [second.appId, false],
  ])
})

test('lastUsedAt is null before the first use and written at most once a minute', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const second = await world.secondApp()
  const lastUsed = async (): Promise<unknown> =>
    (await list(world)).find((app) => app['appId'] === second.appId)?.['lastUsedAt']
  expect(await lastUsed()).toBeNull()
  await world.call('GET', '/v1/rc/status', { key: second.apiKey })
  await until(async () => (await lastUsed()) === '2026-11-21T02:30:00.000Z')
  clock.advance(59_999)
  await world.call('GET', '/v1/rc/status', { key: second.apiKey })
  expect(await lastUsed()).toBe('2026-11-21T02:30:00.000Z')
  clock.advance(1)
  await world.call('GET', '/v1/rc/status', { key: second.apiKey })
  await until(async () => (await lastUsed()) === '2026-11-21T02:31:00.000Z')
})
