import type { Gate } from '../../src/db/gate.ts'

export interface SeededRows {
  count: number
  /** The number of the first row, for a second run on the same database. Default 0. */
  first?: number
  /** Epoch milliseconds of the oldest and of the newest row. */
  since: number
  until: number
  /** The big tenant is first and gets `share` of all rows. The others share the rest. */
  tenants: readonly string[]
  /** 0 to 1. */
  share: number
  /** An app of the big tenant. The rows name 19 more apps that are in no other table. */
  appId: string
}

const ROWS_PER_BATCH = 10_000
export const USERS = 5000
export const OWN_NUMBERS = 50
export const CONTACTS = 50_000

/**
 * Writes messages with the distribution of values of a busy gateway: 20 % are inbound, each with a delivery, and 5 % of
 * the others have failed, one in five of these because it was cancelled. 4 % of those that were sent were not delivered.
 * Tables and columns that the database lacks are left out, so that databases of other commits can be filled.
 */
export async function seedRows(gate: Gate, seed: SeededRows): Promise<void> {
  const { first = 0, count } = seed
  const statements = [
    await insertInto(gate, 'messages', MESSAGE),
    await insertInto(gate, 'webhook_attempts', DELIVERY, 'WHERE inbound'),
    await insertInto(gate, 'delivery_states', DELIVERY_STATE, UNDELIVERED),
  ].filter((sql) => sql !== null)
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
    await gate.batch(statements.map((sql) => ({ sql, args })))
  }
  await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
}

async function insertInto(gate: Gate, table: string, values: Record<string, string>, filter = '') {
  const { rows } = await gate.execute(`SELECT name FROM pragma_table_info('${table}')`)
  const columns = rows.map((row) => String(row['name'])).filter((name) => name in values)
  if (columns.length === 0) return null
  return `${ROWS} INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((name) => values[name]).join(', ')} FROM valued ${filter}`
}

/** Multiplication by odd numbers distributes the values without `random()`, so that every run has the same rows. */
const ROWS = `WITH RECURSIVE numbers (n) AS (SELECT CAST(:from AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :to),
  drawn AS (SELECT n, printf('msg_%012x', (n * 7919) % 281474976710656) AS message, CAST(:since + (n - :first) * :step AS INTEGER) AS at,
    (n * 2654435761) % 4294967291 % 1000 AS spread, n * 40503 % 65521 AS a, n * 2246822519 % 4294967279 AS b, n * 69621 % 2147483647 % 1000 AS part FROM numbers),
  valued AS (SELECT *, spread % 5 = 0 AS inbound, b % ${USERS} AS user, printf('+15555550%03d', a % ${OWN_NUMBERS}) AS own,
    printf('+1555777%05d', b % ${CONTACTS}) AS person, iif(a % 20 = 0, :app, printf('app_%016x', a % 20)) AS app,
    :tenants ->> CASE WHEN part < :share THEN 0 ELSE 1 + a % CAST(max(:others, 1) AS INTEGER) END AS tenant FROM drawn)`

/** An expression over `valued` for each column. */
const MESSAGE: Record<string, string> = {
  id: 'message',
  job_id: `printf('job_%016x', n)`,
  tenant_id: 'tenant',
  app_id: 'app',
  user_id: `iif(inbound, NULL, printf('user-%d', user))`,
  direction: `iif(inbound, 'inbound', 'outbound')`,
  from_number: 'iif(inbound, person, own)',
  to_number: 'iif(inbound, own, person)',
  body: `'Message number ' || n || ' says a few words, as people do when they write to each other'`,
  status: `CASE WHEN inbound THEN 'received' WHEN spread % 20 = 1 THEN 'failed' ELSE 'sent' END`,
  rc_message_id: `printf('seeded%d', n)`,
  error: `iif(NOT inbound AND spread % 20 = 1, 'Rejected', NULL)`,
  error_code: `CASE WHEN NOT inbound AND spread % 20 = 1 THEN iif(b % 5 = 0, 'cancelled', 'rejected') END`,
  receiving_extension_id: `iif(inbound, '101', NULL)`,
  attempt_id: `iif(inbound, NULL, printf('att_%016x', n))`,
  created_at: 'at',
  updated_at: 'at + 300',
}

const DELIVERY: Record<string, string> = {
  delivery_id: `message || ':' || app`,
  tenant_id: 'tenant',
  kind: `'app'`,
  target_id: 'app',
  message_id: 'message',
  correlation_id: `printf('cor_%016x', n)`,
  url: `'https://hooks.example.com/'`,
  boot_id: `'boot_0'`,
  attempted_at: 'at',
  outcome: `iif(spread % 20 = 0, 'http_error', 'success')`,
  status_code: 'iif(spread % 20 = 0, 500, 200)',
  duration_ms: '20',
}

const UNDELIVERED = `CROSS JOIN messages ON messages.id = message WHERE NOT inbound AND spread % 20 <> 1 AND b % 25 = 7`

const DELIVERY_STATE: Record<string, string> = {
  message_seq: 'messages.seq',
  tenant_id: 'tenant',
  extension_id: `'101'`,
  sent_at: 'at + 300',
  conclusion: `'undelivered'`,
  error_code: `'SMS-CAR-430'`,
  concluded_at: 'at + 10000',
}
