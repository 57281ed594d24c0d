import type { Gate } from '../../src/db/gate.ts'

export interface SeededRows {
  count: number
  /** Number of the first row, for a second lot in the same database; 0 if absent. */
  first?: number
  /** Epoch milliseconds of the oldest and of the newest one. */
  since: number
  until: number
  /** The big one first: it gets `share` of all rows, the others the rest between them. */
  tenants: readonly string[]
  /** 0 to 1. */
  share: number
  /** An app of the big tenant; the rows have 19 more that are in no other table. */
  appId: string
}

const ROWS_PER_BATCH = 10_000
export const USERS = 5000
export const OWN_NUMBERS = 50
export const PERSONS = 50_000

/** Messages with the spread of values that a busy gateway has: 20 % inbound, 5 % of the rest failed; each inbound one with a delivery. */
export async function seedRows(gate: Gate, seed: SeededRows): Promise<void> {
  const { first = 0, count } = seed
  for (let from = 0; from < count; from += ROWS_PER_BATCH) {
    const args = {
      first,
      from: first + from,
      to: first + Math.min(from + ROWS_PER_BATCH, count),
      since: seed.since,
      step: (seed.until - seed.since) / count,
      tenants: JSON.stringify(seed.tenants),
      others: seed.tenants.length - 1,
      share: Math.round(seed.share * 1000),
      app: seed.appId,
    }
    await gate.batch([MESSAGES, DELIVERIES].map((sql) => ({ sql, args })))
  }
  await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Multiplying by odd numbers spreads the values without `random()`, so that every run sees the same rows. */
const ROWS = `WITH RECURSIVE numbers (n) AS (SELECT CAST(:from AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :to),
  drawn AS (SELECT n, printf('msg_%012x', (n * 7919) % 281474976710656) AS id, CAST(:since + (n - :first) * :step AS INTEGER) AS at,
    (n * 2654435761) % 4294967291 % 1000 AS spread, n * 40503 % 65521 AS a, n * 2246822519 % 4294967279 AS b, n * 69621 % 2147483647 % 1000 AS part FROM numbers),
  valued AS (SELECT *, spread % 5 = 0 AS inbound, a % 20 AS app, b % ${USERS} AS user, a % ${OWN_NUMBERS} AS own, b % ${PERSONS} AS person,
    :tenants ->> CASE WHEN part < :share THEN 0 ELSE 1 + a % CAST(max(:others, 1) AS INTEGER) END AS tenant FROM drawn)`

const MESSAGES = `${ROWS}
  INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, rc_message_id,
    error, receiving_extension_id, attempt_id, created_at, updated_at)
  SELECT id, printf('job_%016x', n), tenant, iif(app = 0, :app, printf('app_%016x', app)), iif(inbound, NULL, printf('user-%d', user)),
    iif(inbound, 'inbound', 'outbound'), iif(inbound, printf('+1555777%05d', person), printf('+15555550%03d', own)),
    iif(inbound, printf('+15555550%03d', own), printf('+1555777%05d', person)),
    'Message number ' || n || ' says a few words, as people do when they write to each other',
    CASE WHEN inbound THEN 'received' WHEN spread % 20 = 1 THEN 'failed' ELSE 'sent' END,
    printf('seeded%d', n), iif(NOT inbound AND spread % 20 = 1, 'Rejected', NULL), iif(inbound, '101', NULL),
    iif(inbound, NULL, printf('att_%016x', n)), at, at + 300 FROM valued`

const DELIVERIES = `${ROWS}
  INSERT INTO deliveries (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, status_code, duration_ms)
  SELECT id || ':' || iif(app = 0, :app, printf('app_%016x', app)), tenant, 'app', iif(app = 0, :app, printf('app_%016x', app)), id,
    printf('cor_%016x', n), 'https://hooks.example.com/', 'boot_0', at, iif(spread % 20 = 0, 'http_error', 'success'), 200, 20
  FROM valued WHERE inbound`
