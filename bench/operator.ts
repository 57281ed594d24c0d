import { signIn } from '../test/support/operator.ts'
import { writeManyMessages } from '../test/support/many-messages.ts'
import { type World, createWorld } from '../test/support/world.ts'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { median } from './support/alternate.ts'
import { rounded } from './support/rounded.ts'
import { watchTicks } from './support/ticks.ts'

const MESSAGES = 100_000
const QUEUED = 1_000_000
const CALLS = 12
const HOLDS = 'longest tick ≤ 10 ms'

/** The console's requests as an operator. */
const PATHS: readonly string[] = [
  '/v1/operator/status',
  '/v1/operator/doctor',
  '/v1/operator/alerts',
  '/v1/operator/tenants',
  '/v1/operator/apps',
  '/v1/operator/simulator/calls',
  '/v1/me',
  '/v1/apps',
  '/v1/triggers',
  '/v1/overview',
  '/v1/overview?hours=2160',
  '/v1/usage',
  '/v1/sms/messages?limit=50&include=delivery',
  '/v1/sms/messages?status=failed',
  '/v1/sms/messages?number=%2B15555550100&contact=%2B15557770001',
  '/v1/conversations',
  '/v1/webhook-deliveries',
  '/v1/rc/extensions/health',
  '/v1/events',
  '/v1/opt-outs',
]

/**
 * What each endpoint of the console costs with 100,000 messages of one tenant, and the status with a million messages that wait besides.
 * `longest tick`: the processor time that the thread of the event loop used in one of its ticks, gateway and client together. Other
 * programs on the machine do not change it.
 */
export const operator: Bench = {
  name: 'operator',
  async run(options: BenchOptions): Promise<Row[]> {
    await using world = await createWorld({ env: { ADMIN_PORT: '0' } })
    const { tenantId, app, gateway } = world
    const count = shortened(options, MESSAGES)
    const since = Date.now() - count * 1000
    await writeManyMessages(gateway.database.gate, { count, since, tenantId, appId: app.appId })
    await world.untilStatus(await world.send())
    const { token } = await signIn(world)
    const rows: Row[] = []
    const asOperator = (path: string): (() => Promise<Response>) => {
      return () => world.call('GET', path, { key: token, headers: { 'sgw-app': app.appId } })
    }
    for (const path of PATHS) rows.push(await measure(path, asOperator(path)))
    const queued = shortened(options, QUEUED)
    await writeHeldJobs(world, queued)
    const besides = `with ${queued} queued`
    rows.push(await measure(`/v1/operator/status ${besides}`, asOperator('/v1/operator/status')))
    rows.push(await measure(`/metrics ${besides}`, () => fetch(`${world.running.adminUrl}/metrics`)))
    return rows
  },
}

/** Stores send jobs of a suspended tenant: the search for the oldest message of another passes all of them. */
async function writeHeldJobs({ gateway: { database, clock } }: World, count: number): Promise<void> {
  await database.gate.batch([
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('tenant_held', '', 'suspended', 0, 0)`,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at)
      SELECT 'job_' || i, 'send', '+15555550' || (100 + i % 100), 'tenant_held', printf('msg_%016x', i), '+15557770001', ${Math.floor(clock.steady())} FROM n`,
  ])
}

async function measure(endpoint: string, ask: () => Promise<Response>): Promise<Row> {
  const calls: { ms: number; tickMs: number }[] = []
  for (let n = 0; n < CALLS; n++) {
    const ticks = watchTicks()
    const startedAt = performance.now()
    const answer = await ask()
    if (!answer.ok) throw new Error(`${endpoint} answered ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
    calls.push({ ms: performance.now() - startedAt, tickMs: ticks.longestMs() })
  }
  return {
    endpoint,
    'first ms': rounded(calls[0]?.ms ?? Number.NaN),
    'median ms': rounded(median(calls.map(({ ms }) => ms))),
    'longest tick, ms': rounded(Math.max(...calls.map(({ tickMs }) => tickMs))),
    holds: HOLDS,
  }
}
