import type { Gate } from '../../src/db/gate.ts'

export interface ManyMessages {
  count: number
  /** Epoch milliseconds of the first message. Each further message is a second newer. */
  since: number
  tenantId: string
  appId: string
  /** The contact: `to` of outbound and `from` of inbound messages. Default: many contacts. */
  phone?: string
}

const ROWS_PER_BATCH = 5000

/** Three of four messages are outbound and sent, each with an attempt. The others are inbound, each with a delivery. */
export const writeManyMessages = (gate: Gate, many: ManyMessages): Promise<void> => write(gate, many, ATTEMPTS)

/** Writes the same to a database of release 1.0.0 or earlier. */
export const writeManyOldMessages = (gate: Gate, many: ManyMessages): Promise<void> => write(gate, many, OLD_ATTEMPTS)

async function write(gate: Gate, many: ManyMessages, attempts: string): Promise<void> {
  const webhookAttempts = await webhookAttemptsOf(gate)
  for (let from = 0; from < many.count; from += ROWS_PER_BATCH) {
    const to = Math.min(from + ROWS_PER_BATCH, many.count)
    const args = { from, to, since: many.since, tenant: many.tenantId, app: many.appId, phone: many.phone ?? null }
    await gate.batch([MESSAGES, attempts, webhookAttempts].map((sql) => ({ sql, args })))
  }
}

const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT :from UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :to),
  drawn AS (SELECT CAST(n AS INTEGER) AS n, printf('msg_%012x', n) AS id, CAST(:since + n * 1000 AS INTEGER) AS at, n % 4 = 3 AS inbound,
    coalesce(:phone, printf('+1555777%04d', n % 10000)) AS phone, :tenant AS tenant, :app AS app FROM numbers)`

const MESSAGES = `${NUMBERS}
  INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, rc_message_id,
    receiving_extension_id, created_at, updated_at)
  SELECT id, printf('job_%016x', n), tenant, app, iif(inbound, 'inbound', 'outbound'), iif(inbound, phone, '+15555550100'),
    iif(inbound, '+15555550100', phone), 'Message number ' || n || ' says a few words', iif(inbound, 'received', 'sent'),
    printf('old%d', n), iif(inbound, '101', NULL), at, at FROM drawn`

const ATTEMPTS = `${NUMBERS}
  INSERT INTO send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, closed_at, outcome)
  SELECT id, tenant, '101', '+15555550100', phone, 'boot_0', at, at + 100, 'accepted' FROM drawn WHERE NOT inbound`

const OLD_ATTEMPTS = `${NUMBERS}
  INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at, ended_at, outcome)
  SELECT printf('att_%016x', n), id, tenant, '101', '+15555550100', phone, printf('%064x', n), 1, 'boot_0', at, at + 100, 'accepted'
  FROM drawn WHERE NOT inbound`

/** Until release 1.0.0 the table of webhook attempts was called `deliveries`. */
async function webhookAttemptsOf(gate: Gate): Promise<string> {
  const { rows } = await gate.execute("SELECT 1 FROM sqlite_schema WHERE name = 'deliveries'")
  return rows.length > 0 ? WEBHOOK_ATTEMPTS.replace('INTO webhook_attempts', 'INTO deliveries') : WEBHOOK_ATTEMPTS
}

const WEBHOOK_ATTEMPTS = `${NUMBERS}
  INSERT INTO webhook_attempts (delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, status_code, duration_ms)
  SELECT id || ':' || app, tenant, 'app', app, id, printf('cor_%016x', n), 'https://hooks.example.com/', 'boot_0', at, 'success', 200, 20
  FROM drawn WHERE inbound`
