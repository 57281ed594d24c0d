import { LONGEST_BEFORE_FAILURE_MS, MESSAGE_FAILURES } from '../../core/message-failure.ts'
import { DAY_MS, HALF_HOUR_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import { type UsageReads, halfHourAt } from './overview.ts'

/** The failed messages of one tenant. */
export interface Failures {
  tenantId: string
  count: number
  /** Epoch milliseconds: the start of the half hour in which the first one failed, and when the last one failed. */
  since: number
  lastAt: number
  /** The most frequent errors, and how often each occurred. */
  errors: { error: string; count: number }[]
  tenantStatus: 'active' | 'suspended' | 'inactive'
  /** Whether `sgw messages resend` would send any of them. */
  canResend: boolean
}

const MAX_ERRORS = 3
const MAX_ROWS = 100 * MAX_ERRORS

/** SQL: a message failed because no extension had its number, and that is still so. */
export const lacksNumber = (
  message: string,
): string => `${message}.error_code = 'unknown_number' AND NOT EXISTS (SELECT 1
  FROM phone_numbers WHERE phone_numbers.tenant_id = ${message}.tenant_id AND phone_numbers.number = ${message}.from_number)`

/** These failed on purpose. */
const WANTED = [MESSAGE_FAILURES.cancelled.text, MESSAGE_FAILURES.optedOut.text]

/** Reads the roll-up, so that its cost does not depend on the number of messages. The join gives each tenant its range of the index. */
const FAILED = `WITH failed AS (
    SELECT tenant_id, error, sum(count) AS count, min(half_hour) AS first, max(last_at) AS last_at
    FROM tenants CROSS JOIN usage_errors ON tenant_id = tenants.id AND half_hour > ?1 AND error NOT IN (?2, ?3)
    GROUP BY tenant_id, error),
  ranked AS (
    SELECT tenant_id, error, count, sum(count) OVER tenant AS total, min(first) OVER tenant AS first,
      max(last_at) OVER tenant AS last_at, row_number() OVER (PARTITION BY tenant_id ORDER BY count DESC, error) AS position
    FROM failed WINDOW tenant AS (PARTITION BY tenant_id))
  SELECT * FROM ranked WHERE position <= ${MAX_ERRORS} ORDER BY total DESC, tenant_id, position LIMIT ${MAX_ROWS}`

/** The failures of the 24 hours before `now`, tenants with the most failures first. Cancelled and opted-out messages do not count. */
export async function readFailures({ database }: UsageReads, now: number): Promise<Failures[]> {
  const failed = await database.reader.longRead('operator', FAILED, [halfHourAt(now - DAY_MS), ...WANTED])
  const byTenant = Map.groupBy(failed, (row) => String(row['tenant_id']))
  const args = [JSON.stringify([...byTenant.keys()]), now - LONGEST_BEFORE_FAILURE_MS, now - DAY_MS]
  const tenants = await database.reader.longRead('operator', TENANTS, args)
  return tenants.map((tenant) => failuresOf(tenant, byTenant.get(String(tenant['id'])) ?? []))
}

/**
 * The tenants of a list, in its order, and whether any of their messages has not been sent again. The LIMIT makes SQLite examine the newest
 * first: it ignores the order in an EXISTS.
 */
const TENANTS = `SELECT tenants.id, tenants.status, tenants.status = 'active' AND (
    SELECT 1 FROM messages AS message INDEXED BY messages_failed
    WHERE message.tenant_id = tenants.id AND message.status = 'failed' AND message.created_at > ?2 AND message.updated_at >= ?3
      AND message.error_code NOT IN ('cancelled', 'opted_out', 'unconfirmed') AND message.resent_as IS NULL
      AND NOT (${lacksNumber('message')})
    ORDER BY message.created_at DESC LIMIT 1) IS NOT NULL AS can_resend
  FROM json_each(?1) CROSS JOIN tenants ON tenants.id = value ORDER BY key`

function failuresOf(tenant: Row, rows: readonly Row[]): Failures {
  const [first] = rows
  return {
    tenantId: String(tenant['id']),
    count: Number(first?.['total']),
    since: Number(first?.['first']) * HALF_HOUR_MS,
    lastAt: Number(first?.['last_at']),
    errors: rows.map(({ error, count }) => ({ error: String(error), count: Number(count) })),
    tenantStatus: String(tenant['status']) as Failures['tenantStatus'],
    canResend: tenant['can_resend'] === 1,
  }
}
