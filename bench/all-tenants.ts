import { signIn } from '../test/support/operator.ts'
import { createWorld } from '../test/support/world.ts'
import type { Gate } from '../src/db/gate.ts'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { median } from './support/alternate.ts'
import { rounded } from './support/rounded.ts'
import { microsecondsSince, threadTimes } from './support/thread-times.ts'
import { threadMs, watchTicks } from './support/ticks.ts'

const TENANTS = 500
const PER_DAY = 100_000
const NEVER_ARRIVED = 10_000
const WAITING = 5000
const CALLS = 20
const DAY_MS = 86_400_000
const HALF_HOUR_MS = 1_800_000

/** What the page of all tenants asks, and what it may cost. */
const CASES: readonly (readonly [path: string, holds: string])[] = [
  ['/v1/operator/overview', 'reader ≤ 60 ms'],
  ['/v1/operator/overview?hours=168', ''],
  ['/v1/operator/overview?hours=720', ''],
  ['/v1/operator/usage', 'longest tick ≤ 5 ms'],
  ['/v1/operator/usage as CSV', 'longest tick ≤ 5 ms'],
]

/**
 * What an operator's page of all tenants costs: 500 tenants, 100,000 messages and 10,000 webhook deliveries that never arrived in a day, and with
 * `--long` as many messages on each of 30 days. `reader`: the processor time of all threads but that of the event loop, so the statements and
 * what carries their rows over. The alerts are checked with each call, too.
 */
export const allTenants: Bench = {
  name: 'all tenants',
  async run(options: BenchOptions): Promise<Row[]> {
    await using world = await createWorld({ connect: false, work: false })
    const { gate } = world.gateway.database
    await seed(gate, shortened(options, PER_DAY), options.long ? 30 : 1)
    const { token } = await signIn(world)
    const ask = (path: string) => (): Promise<Response> => {
      const [address = '', isCsv] = path.split(' as CSV')
      const headers = { accept: isCsv === undefined ? 'application/json' : 'text/csv' }
      return world.call('GET', address, { key: token, headers })
    }
    const rows: Row[] = []
    for (const [path, holds] of CASES) rows.push(await measure(path, holds, ask(path)))
    return rows
  },
}

/** Each tenant has one app; a fifth of the messages are received, and the sent ones are in eight classes of latency, as those of a day are. */
async function seed(gate: Gate, perDay: number, days: number): Promise<void> {
  const now = Date.now()
  await gate.batch([
    `WITH ${numbers(TENANTS)} INSERT INTO tenants (id, name, status, created_at, updated_at)
      SELECT ${TENANT}, 'Tenant ' || n, 'active', n, n FROM numbers`,
    `WITH ${numbers(TENANTS)} INSERT INTO apps (id, tenant_id, name, webhook_url, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      SELECT ${APP}, ${TENANT}, 'App', 'https://hooks.example.com/', 'app', 1, 'hash' || n, '', '', n, n FROM numbers`,
    `WITH ${numbers(NEVER_ARRIVED)} INSERT INTO webhook_attempts (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id,
        attempted_at, outcome, status_code, duration_ms, is_unresolved)
      SELECT printf('msg_%012x:', n) || ${APP}, ${TENANT}, 'app', ${APP}, printf('msg_%012x', n), 'cor_0', 'https://hooks.example.com/', 'boot_0',
        ${now} - n, 'http_error', 500, 20, 1 FROM numbers`,
    `WITH ${numbers(WAITING)} INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at)
      SELECT 'job_' || n, 'send', '+15555550100', ${TENANT}, printf('msg_%012x', n), '+15557770001', 0 FROM numbers`,
  ])
  for (let day = 0; day < days; day++) await gate.execute(usageOf(perDay, now - day * DAY_MS))
}

const usageOf = (count: number, until: number): string => `WITH ${numbers(count)},
  drawn AS (SELECT ${TENANT} AS tenant, ${APP} AS app, CAST((${until} - n * (${DAY_MS}.0 / ${count})) / ${HALF_HOUR_MS} AS INTEGER) AS half_hour,
    n / ${TENANTS} % 5 = 0 AS inbound, n * 2654435761 % 8 AS class FROM numbers)
  INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, accepted, sent, received, segments)
  SELECT tenant, half_hour, app, iif(inbound, 0, 100 + 20 * class), sum(NOT inbound), sum(NOT inbound), sum(inbound), sum(NOT inbound)
  FROM drawn GROUP BY 1, 2, 3, 4
  ON CONFLICT DO UPDATE SET sent = sent + excluded.sent, received = received + excluded.received`

const numbers = (count: number): string =>
  `RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})`
const TENANT = `printf('tenant_%016x', n % ${TENANTS})`
const APP = `printf('app_%016x', n % ${TENANTS})`

async function measure(path: string, holds: string, ask: () => Promise<Response>): Promise<Row> {
  const calls: { ms: number; readerMs: number; tickMs: number; bytes: number }[] = []
  for (let n = 0; n < CALLS; n++) {
    const before = threadTimes(process.pid)
    const onLoop = threadMs()
    const ticks = watchTicks()
    const startedAt = performance.now()
    const answer = await ask()
    const text = await answer.text()
    const tickMs = ticks.longestMs()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    const ms = performance.now() - startedAt
    const readerMs = microsecondsSince(before, process.pid) / 1000 - (threadMs() - onLoop)
    calls.push({ ms, readerMs, tickMs, bytes: Bun.gzipSync(text).length })
  }
  return {
    path,
    'median ms': rounded(median(calls.map((call) => call.ms))),
    'reader, ms of processor': rounded(median(calls.map(({ readerMs }) => readerMs))),
    'longest tick, ms': rounded(median(calls.map(({ tickMs }) => tickMs))),
    'KB, compressed': rounded((calls[0]?.bytes ?? Number.NaN) / 1000),
    holds,
  }
}
