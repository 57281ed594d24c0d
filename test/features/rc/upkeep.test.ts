import { expect, test } from 'bun:test'
import { readNumbersDaily, resumeRefreshes, watchSubscriptions } from '../../../src/features/rc/upkeep.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { failureOf } from '../../support/process.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const BOB = '+15555550177'

const execute = (world: World, sql: string, ...args: string[]) => world.gateway.database.gate.execute({ sql, args })

async function extensionOf(world: World): Promise<{ tenantId: string; extensionId: string }> {
  const { rows } = await execute(world, 'SELECT extension_id FROM extensions')
  return { tenantId: world.tenantId, extensionId: String(rows[0]?.['extension_id']) }
}

/** An extension whose tokens do not open is met first. */
async function withDamaged(world: World): Promise<string> {
  const { tenantId } = await world.otherTenant()
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: [BOB] })
  await world.connect({ tenantId, extensionId })
  await execute(
    world,
    `UPDATE extensions SET access_token = 'damaged', refresh_token = 'damaged' WHERE tenant_id = ?1`,
    world.tenantId,
  )
  await execute(world, 'UPDATE extensions SET numbers_read_at = 0')
  for (const tenant of [tenantId, world.tenantId]) world.gateway.directory.forget(tenant)
  return tenantId
}

test('an extension whose tokens do not open keeps no other from its upkeep', async () => {
  await using world = await createWorld({ work: false })
  const tenantId = await withDamaged(world)
  await readNumbersDaily(world.gateway)
  const { rows } = await execute(world, 'SELECT tenant_id, numbers_read_at AS at FROM extensions')
  expect(Object.fromEntries(rows.map((row) => [row['tenant_id'], Number(row['at']) > 0]))).toEqual({
    [world.tenantId]: false,
    [tenantId]: true,
  })
})

test('a subscription that the provider refuses leaves no row', async () => {
  await using world = await createWorld({ work: false })
  const pending = async (): Promise<number> =>
    (await execute(world, `SELECT 1 FROM subscriptions WHERE status = 'pending'`)).rows.length
  const key = await extensionOf(world)
  await execute(world, 'DELETE FROM subscriptions')
  world.control.fault({ route: 'subscription-create', calls: 1, fault: { kind: 'respond', status: 400 } })
  expect(await world.gateway.subscriptions.ensure(key)).toBe('failed')
  expect(await pending()).toBe(0)
  expect(await world.gateway.subscriptions.ensure(key)).toBe('created')
})

test('a subscription that must wait for a pause of the provider is made a minute later', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { extensionId } = await extensionOf(world)
  const active = (): number => world.control.subscriptions().filter(({ status }) => status === 'Active').length
  await until(() => active() === 1)
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  world.gateway.quota.pause(extensionId, 'medium', 10.5 * 60_000)
  const { subscriptions } = world.gateway
  const ensure = subscriptions.ensure.bind(subscriptions)
  const ended: string[] = []
  subscriptions.ensure = async (key) => {
    const ensured = await ensure(key)
    ended.push(ensured)
    return ensured
  }
  clock.advance(10 * 60_000)
  await until(() => ended.length === 1)
  expect(active()).toBe(0)
  // Well before the next look of every ten minutes.
  for (let minute = 0; minute < 5 && ended.length === 1; minute++) {
    clock.advance(60_000)
    await until(() => ended.length === 2, 300).catch(() => null)
  }
  expect({ active: active(), ended }).toEqual({ active: 1, ended: ['waiting', 'created'] })
})

test('two tenants with the same extension do not delete what is being made for the other', async () => {
  await using world = await createWorld({ work: false })
  const { tenantId } = await world.otherTenant()
  const { extensionId } = await extensionOf(world)
  await world.connect({ tenantId, extensionId })
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  // The other's token is due, so that it looks while the first one's subscription is there, but not answered yet.
  await execute(world, 'UPDATE extensions SET access_expires_at = 0 WHERE tenant_id = ?1', tenantId)
  world.gateway.directory.forget(tenantId)
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'delay', ms: 100 } })
  world.control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'delay', ms: 400 } })
  const missed: string[] = []
  await watchSubscriptions(world.gateway, async (row) => void missed.push(row.tenantId))
  expect(missed.toSorted()).toEqual([tenantId, world.tenantId].toSorted())
  expect(world.control.subscriptions().filter(({ status }) => status === 'Active')).toHaveLength(2)
})

test('a refresh that hangs does not keep the listener open after a stop', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '4s' } })
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'hang' } })
  void world.gateway.tokens.refresh(await extensionOf(world))
  await world.running.stop()
  expect(await failureOf(fetch(`${world.url}/health`))).toBeInstanceOf(Error)
})

test('a refresh that waited over a restart is tried within a minute, also if the clock was set back by an hour meanwhile', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  await execute(
    world,
    `UPDATE extensions SET status = 'refresh_failed', next_refresh_at = ${clock.now() + 3_600_000}, access_expires_at = 0`,
  )
  world.gateway.directory.forget(world.tenantId)
  const status = async (): Promise<unknown> =>
    (await execute(world, 'SELECT status FROM extensions')).rows[0]?.['status']
  await resumeRefreshes(world.gateway)
  clock.advance(59_999)
  expect(await status()).toBe('refresh_failed')
  clock.advance(1)
  await until(async () => (await status()) === 'active')
})
