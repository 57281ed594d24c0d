import { expect, test } from 'bun:test'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { readNumbersDaily, resumeRefreshes, watchSubscriptions } from '../../../src/messages/upkeep/extensions.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { failureOf } from '../../support/process.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const BOB = '+15555550177'

const execute = (world: World, sql: string, ...args: string[]) => world.gateway.database.gate.execute({ sql, args })

async function extensionOf(world: World): Promise<{ tenantId: string; extensionId: string }> {
  const { rows } = await execute(world, 'SELECT extension_id FROM extensions')
  return { tenantId: world.tenantId, extensionId: String(rows[0]?.['extension_id']) }
}

/** Creates a first extension whose tokens cannot be decrypted. */
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

test('an extension whose tokens cannot be decrypted does not stop the upkeep of the others', async () => {
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

test('a subscription that waits for a pause of the provider is created a minute later', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { extensionId } = await extensionOf(world)
  const active = (): number => world.control.subscriptions().filter(({ status }) => status === 'Active').length
  await until(() => active() === 1)
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  world.gateway.quota.pause(extensionId, 'medium', 10.5 * 60_000)
  const ended = outcomes(world)
  clock.advance(10 * 60_000)
  await until(() => ended.length === 1)
  expect(active()).toBe(0)
  // This is well before the next check, which runs every ten minutes.
  for (let minute = 0; minute < 5 && ended.length === 1; minute++) {
    clock.advance(60_000)
    await until(() => ended.length === 2, 300).catch(() => null)
  }
  expect({ active: active(), ended }).toEqual({ active: 1, ended: ['waiting', 'created'] })
})

/** Records the outcome of each run of `ensure`. */
function outcomes(world: World): string[] {
  const { subscriptions } = world.gateway
  const ensure = subscriptions.ensure.bind(subscriptions)
  const ended: string[] = []
  subscriptions.ensure = async (key) => {
    const ensured = await ensure(key)
    ended.push(ensured)
    return ensured
  }
  return ended
}

test('the creation of a subscription is retried after 10 s, with a backoff that doubles up to 10 min', async () => {
  await using world = await createWorld({ connect: false, work: false, clock: manualClock() })
  const { subscriptions } = world.gateway
  const planned: number[] = []
  subscriptions.planned = (_, nextMs) => planned.push(nextMs / 1000)
  world.control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 503 } })
  expect((await world.connect()).status).toBe(200)
  const key = await extensionOf(world)
  for (let run = 0; run < 8; run++) expect(await subscriptions.ensure(key)).toBe('failed')
  expect(planned).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600])
  world.control.clearFaults()
  expect(await subscriptions.ensure(key)).toBe('created')
  expect(planned.at(-1)).toBe(604_800 / 2)
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  world.control.fault({ route: 'subscription-create', fault: { kind: 'respond', status: 503 } })
  expect(await subscriptions.ensure(key)).toBe('failed')
  expect(planned.at(-1)).toBe(10)
})

test('if a connection could not create its subscription, one is created after ten seconds, and missed messages are filled in', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false })
  clock.advance(1)
  world.control.fault({ route: 'subscription-create', calls: 1, fault: { kind: 'respond', status: 503 } })
  expect((await world.connect()).status).toBe(200)
  await until(async () => (await execute(world, `SELECT 1 FROM jobs WHERE kind = 'back_fill'`)).rows.length === 0)
  await world.control.injectSms({ from: BOB, text: 'while nobody listened', deliver: false })
  const created = (): number => world.control.requests({ route: 'subscription-create' }).length
  clock.advance(9999)
  expect(created()).toBe(1)
  clock.advance(1)
  await until(() => created() === 2)
  const inbound = () => execute(world, `SELECT body FROM messages WHERE direction = 'inbound'`)
  expect(await until(async () => (await inbound()).rows[0]?.['body'])).toBe('while nobody listened')
  expect(world.control.subscriptions()).toMatchObject([{ status: 'Active' }])
})

test.each([
  ['of a week', 604_800],
  ['of an hour', 3600],
  ['of 8 minutes, less than the interval of checks', 480],
])('a subscription is renewed at half of its granted lifetime %s', async (_, seconds) => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false })
  world.control.configure({ maxSubscriptionSeconds: seconds })
  world.control.setLimits({ light: 100_000 })
  expect((await world.connect()).status).toBe(200)
  const ended = outcomes(world)
  const renewals = (): number => world.control.requests({ route: 'subscription-renew' }).length
  const step = Math.min(seconds * 100, 600_000)
  const checkAgain = async (ms: number): Promise<void> => {
    clock.advance(ms)
    ended.length = 0
    await watchSubscriptions(world.gateway, () => Promise.resolve())
  }
  await checkAgain(seconds * 500 - step)
  expect(renewals()).toBe(0)
  if (seconds > 1000) await checkAgain(step)
  else clock.advance(step)
  await until(() => renewals() === 1)
  expect(world.control.subscriptions()).toMatchObject([{ status: 'Active', expiresAt: clock.now() + seconds * 1000 }])
})

test('an extension that cannot receive is reported by a metric and a warning with its fix, and the gateway stays ready', async () => {
  await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
  const admin = (path: string): Promise<Response> => fetch(`${world.running.adminUrl}${path}`)
  const notReceiving = async (): Promise<string | undefined> =>
    /^sgw_extensions_not_receiving (\d+)$/m.exec(await (await admin('/metrics')).text())?.[1]
  const finding = async () => (await diagnose(world.gateway)).find(({ check }) => check === 'subscriptions')
  expect(await notReceiving()).toBe('0')
  const unreachable = {
    kind: 'respond',
    status: 400,
    body: { errors: [{ errorCode: 'SUB-521', message: 'WebHook is not reachable' }] },
  } as const
  world.control.fault({ route: 'subscription-create', calls: null, fault: unreachable })
  await world.connect()
  expect(await notReceiving()).toBe('1')
  expect((await admin('/ready')).status).toBe(200)
  expect(await finding()).toMatchObject({
    ok: true,
    level: 'warn',
    detail: expect.stringMatching(
      /^Extension \d+ of \S+ does not receive events\. .*SUB-521.*RingCentral cannot reach http/,
    ),
  })
  world.control.clearFaults()
  await watchSubscriptions(world.gateway, () => Promise.resolve())
  expect(await notReceiving()).toBe('0')
  expect(await finding()).toMatchObject({ level: 'ok' })
  world.control.fault({ route: 'subscription-renew', calls: null, fault: unreachable })
  await world.gateway.database.gate.execute('UPDATE subscriptions SET checked_at = expires_at - 9000000000')
  await watchSubscriptions(world.gateway, () => Promise.resolve())
  expect(await notReceiving()).toBe('0')
  expect(await finding()).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(
      /^Extension \d+ of .* refused its subscription, .* \(400 SUB-521\)\. RingCentral cannot reach http/,
    ),
  })
})

test('an extension whose subscription was disabled and cannot be created again counts as not receiving', async () => {
  await using world = await createWorld({ work: false })
  const [subscription] = world.control.subscriptions()
  world.control.blacklistSubscription({ subscriptionId: subscription?.subscriptionId ?? '' })
  world.control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 503 } })
  await watchSubscriptions(world.gateway, () => Promise.resolve())
  expect((await diagnose(world.gateway)).find(({ check }) => check === 'subscriptions')).toMatchObject({
    level: 'warn',
  })
})

test.concurrent('two tenants with the same extension do not delete each other’s new subscription', async () => {
  await using world = await createWorld({ work: false })
  const { tenantId } = await world.otherTenant()
  const { extensionId } = await extensionOf(world)
  await world.connect({ tenantId, extensionId })
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  // The other tenant checks after the first one's subscription was created and before that call is answered.
  await execute(world, 'UPDATE extensions SET access_expires_at = 0, refreshed_at = 0 WHERE tenant_id = ?1', tenantId)
  world.gateway.directory.forget(tenantId)
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'delay', ms: 100 } })
  world.control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'delay', ms: 400 } })
  const missed: string[] = []
  await watchSubscriptions(world.gateway, async (row) => void missed.push(row.tenantId))
  expect(missed.toSorted()).toEqual([tenantId, world.tenantId].toSorted())
  expect(world.control.subscriptions().filter(({ status }) => status === 'Active')).toHaveLength(2)
})

test.concurrent('a refresh that hangs does not keep the listener open after a stop', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '4s' } })
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'hang' } })
  void world.gateway.tokens.refresh(await extensionOf(world))
  await world.running.stop()
  expect(await failureOf(fetch(`${world.url}/health`))).toBeInstanceOf(Error)
})

test('a due refresh runs within a minute after a restart, even if the clock was set back by an hour', async () => {
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
