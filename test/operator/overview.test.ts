import { expect, test } from 'bun:test'
import { seededRandom } from '../../src/simulator/random.ts'
import { insertDeliveries, messageIdOf } from '../support/delivery-rows.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operate, signIn } from '../support/operator.ts'
import { type World, createWorld } from '../support/world.ts'

const HALF_HOUR_MS = 30 * 60_000
const HOUR_MS = 2 * HALF_HOUR_MS

interface Alert {
  alert: string
  subject: string
}

interface TenantOverview {
  [name: string]: unknown
  tenantId: string
  name: string
  status: string
  worst: Alert | null
  buckets: number[]
}

interface TenantsOverview {
  from: string
  to: string
  total: number
  alerts: Alert[]
  tenants: TenantOverview[]
}

const readAll = async (world: World, query = ''): Promise<TenantsOverview> =>
  (await operate<TenantsOverview>(world, 'GET', `/v1/operator/overview${query}`)).body

const execute = (world: World, sql: string): Promise<unknown> => world.gateway.database.gate.execute(sql)

const COUNTED = ['sent', 'received', 'failed', 'undelivered'] as const

/** Counts of the last 31 days: several apps and latency classes of each half hour, and half hours without any. */
async function writeUsage(world: World, tenantIds: readonly string[], random: () => number): Promise<void> {
  const newest = Math.floor(world.gateway.clock.now() / HALF_HOUR_MS)
  const rows = Array.from({ length: 3000 }, () => ({
    tenant: tenantIds[Math.floor(random() * tenantIds.length)],
    halfHour: newest - Math.floor(random() ** 3 * 1600),
    app: `app_${Math.floor(random() * 3)}`,
    latency: Math.floor(random() * 4),
    ...Object.fromEntries(COUNTED.map((name) => [name, Math.floor(random() * 20)])),
  }))
  await world.gateway.database.gate.execute({
    sql: `INSERT OR IGNORE INTO usage (tenant_id, half_hour, app_id, latency_ms, sent, received, failed, undelivered)
      SELECT value ->> 'tenant', value ->> 'halfHour', value ->> 'app', value ->> 'latency', value ->> 'sent', value ->> 'received',
        value ->> 'failed', value ->> 'undelivered' FROM json_each(?1)`,
    args: [JSON.stringify(rows)],
  })
}

test('each tenant has the counts of its own overview, for every range and at every time of the day', async () => {
  const seed = 1 + Math.floor(Math.random() * 2_000_000_000)
  process.stdout.write(`seed ${seed}\n`)
  const random = seededRandom(seed)
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const other = await world.otherTenant()
  const keys = new Map([
    [world.tenantId, world.key],
    [other.tenantId, other.apiKey],
  ])
  await writeUsage(world, [...keys.keys()], random)
  for (const hours of [24, 25, 47, 48, 168, 500, 720]) {
    clock.advance(Math.floor(random() * HOUR_MS))
    const all = await readAll(world, `?hours=${hours}`)
    expect(all.tenants.map(({ tenantId }) => tenantId).toSorted()).toEqual([...keys.keys()].toSorted())
    for (const tenant of all.tenants) {
      const own = await world.json<{
        from: string
        to: string
        totals: Record<string, number>
        buckets: { sent: number; received: number }[]
      }>('GET', `/v1/overview?hours=${hours}`, { key: keys.get(tenant.tenantId) ?? '' })
      const { from, to, totals, buckets } = own.body
      const halves = buckets.map(({ sent, received }) => sent + received)
      expect({ hours, from: all.from, to: all.to, ...tenant }).toMatchObject({
        hours,
        from,
        to,
        ...Object.fromEntries(COUNTED.map((name) => [name, totals[name]])),
        buckets: Array.from({ length: 24 }, (_, index) => (halves[2 * index] ?? 0) + (halves[2 * index + 1] ?? 0)),
      })
    }
  }
})

test('tenants in trouble come first, then those with the most traffic; inactive ones are there, and a tenant without any messages', async () => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock })
  const { tenantId } = world
  const [quiet, busy, left] = [
    await world.otherTenant('Quiet'),
    await world.otherTenant('Busy'),
    await world.otherTenant('Left'),
  ]
  await operate(world, 'PUT', `/v1/operator/tenants/${left.tenantId}`, { status: 'inactive' })
  const halfHour = Math.floor(clock.now() / HALF_HOUR_MS)
  for (const [id, sent, received] of [
    [busy.tenantId, 5, 1],
    [left.tenantId, 0, 5],
    [tenantId, 1, 0],
  ] as const)
    await execute(
      world,
      `INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, sent, received) VALUES ('${id}', ${halfHour}, 'app_1', 0, ${sent}, ${received})`,
    )
  const namesOf = ({ tenants }: TenantsOverview): string[] => tenants.map(({ name }) => name)
  const well = await readAll(world)
  expect(namesOf(well)).toEqual(['Busy', 'Left', 'First', 'Quiet'])
  expect(well).toMatchObject({ total: 4, alerts: [] })
  expect(well.tenants[3]).toEqual({
    tenantId: quiet.tenantId,
    name: 'Quiet',
    status: 'active',
    worst: null,
    sent: 0,
    received: 0,
    failed: 0,
    undelivered: 0,
    waiting: 0,
    neverArrived: 0,
    buckets: Array.from({ length: 24 }, () => 0),
  })
  expect(well.tenants[1]).toMatchObject({ status: 'inactive', received: 5 })
  await execute(world, `UPDATE extensions SET status = 'revoked'`)
  world.gateway.directory.forget(tenantId)
  const troubled = await readAll(world)
  expect(namesOf(troubled)).toEqual(['First', 'Busy', 'Left', 'Quiet'])
  const listed = (await operate<{ alerts: Alert[] }>(world, 'GET', '/v1/operator/alerts')).body.alerts
  expect(troubled.alerts).toEqual(listed)
  expect(troubled.tenants[0]?.worst).toEqual(listed[0] ?? null)
  expect(troubled.tenants[0]?.worst).toMatchObject({ tenantId, tenantName: 'First', alert: 'no_extension_can_send' })
  expect(troubled.tenants.slice(1).map(({ worst }) => worst)).toEqual([null, null, null])
})

test('what waits and what never arrived is counted for each tenant, and what is scheduled or was delivered is not', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const other = await world.otherTenant()
  await world.send()
  await world.send({ to: '+15555550177' })
  await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
  const rows = [1, 2, 3].map((n) => ({
    messageId: messageIdOf(n),
    kind: 'app' as const,
    targetId: other.appId,
    tenantId: other.tenantId,
    outcome: n === 3 ? ('success' as const) : ('http_error' as const),
    attemptedAt: clock.now() - n * HOUR_MS,
  }))
  await insertDeliveries(world, rows)
  const countsOf = async (id: string) => {
    const tenant = (await readAll(world)).tenants.find(({ tenantId }) => tenantId === id)
    return { waiting: tenant?.['waiting'], neverArrived: tenant?.['neverArrived'] }
  }
  expect(await countsOf(world.tenantId)).toEqual({ waiting: 2, neverArrived: 0 })
  expect(await countsOf(other.tenantId)).toEqual({ waiting: 0, neverArrived: 0 })
  await execute(world, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/'`)
  expect(await countsOf(other.tenantId)).toEqual({ waiting: 0, neverArrived: 2 })
  const own = await world.json<{ destinations: { neverArrived?: number }[] }>('GET', '/v1/overview', {
    key: other.apiKey,
  })
  expect(own.body.destinations).toMatchObject([{ neverArrived: 2 }])
})

test('there are at most a thousand tenants, and the total says how many there are', async () => {
  await using world = await createWorld({ clock: manualClock(), connect: false, work: false })
  await execute(
    world,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1005)
      INSERT INTO tenants (id, name, status, created_at, updated_at) SELECT printf('tenant_%016x', i), 'Many', 'active', i, i FROM n`,
  )
  const { total, tenants } = await readAll(world)
  expect([total, tenants.length]).toEqual([1006, 1000])
})

test('hours are clamped to a day and 30 days, and of a repeated one the last counts', async () => {
  await using world = await createWorld({ clock: manualClock(), connect: false, work: false })
  const hoursOf = async (query: string): Promise<number> => {
    const { from } = await readAll(world, query)
    // The last bucket contains this moment.
    return Math.ceil((world.gateway.clock.now() - Date.parse(from) + 1) / HOUR_MS)
  }
  const long = 'x'.repeat(5000)
  for (const query of [
    '',
    '?hours=',
    '?hours=1',
    '?hours=x',
    '?hours=-5',
    '?hours=1e3',
    `?hours=${long}`,
    '?hours=720&hours=24',
  ])
    expect([query, await hoursOf(query)]).toEqual([query, await hoursOf('?hours=24')])
  for (const query of ['?hours=99999999', '?hours=721', '?hours=24&hours=720'])
    expect([query, await hoursOf(query)]).toEqual([query, await hoursOf('?hours=720')])
  expect(await hoursOf('?hours=24')).toBeGreaterThanOrEqual(24 - 1)
  expect(await hoursOf('?hours=720')).toBeGreaterThan(719 - 30)
})

test('only an operator reads it', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await expectError(await world.call('GET', '/v1/operator/overview'), 403, 'Forbidden')
  await expectError(await world.call('GET', '/v1/operator/overview', { key: null }), 401, 'Missing or invalid API key')
  const { token } = await signIn(world)
  expect((await world.call('GET', '/v1/operator/overview', { key: token })).status).toBe(200)
})
