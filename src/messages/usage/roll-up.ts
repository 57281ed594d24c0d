import { HALF_HOUR_MS, MAX_ERRORS_PER_HALF_HOUR } from '../../core/limits.ts'

// Statements that maintain the roll-up. Each is part of the commit that changes the messages it counts. A count of ending messages comes
// before the change, and counts the rows that the change will find; a count of new messages comes after their INSERT. A row operation
// counts all its rows in one statement.

/** What to count about messages. */
export const COUNTS = ['accepted', 'sent', 'failed', 'cancelled', 'received', 'delivered', 'undelivered'] as const
type Count = (typeof COUNTS)[number] | 'segments' | 'media'

interface Counted {
  /** SQL for the tenant, the app and the time (epoch milliseconds) of each row. */
  tenantId: string
  appId: string
  at: string
  /** SQL for a class of `latencyClass`; 0 if absent. */
  latencyMs?: string
  /** SQL for the number that each row adds to a column. */
  counts: Partial<Record<Count, string>>
  /** The FROM clause, with WHERE. */
  from: string
}

/** SQL that adds rows to the roll-up. */
export function countUsage({ tenantId, appId, at, latencyMs = '0', counts, from }: Counted): string {
  const columns = Object.keys(counts)
  const sums = Object.values(counts).map((each) => `sum(${each})`)
  return `INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, ${columns.join(', ')})
    SELECT ${tenantId}, ${halfHourOf(at)}, ${appId}, ${latencyMs}, ${sums.join(', ')} ${from} GROUP BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, half_hour, app_id, latency_ms)
      DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`
}

interface CountedError extends Pick<Counted, 'tenantId' | 'at' | 'from'> {
  error: string
}

/**
 * SQL that counts failed messages by their errors. The provider's texts could all differ, so their number is limited per tenant and half hour.
 */
export function countErrors({ tenantId, at, error, from }: CountedError): string {
  const own = `stored.tenant_id = ${tenantId} AND stored.half_hour = ${halfHourOf(at)}`
  return `INSERT INTO usage_errors (tenant_id, half_hour, error, count, last_at)
    SELECT ${tenantId}, ${halfHourOf(at)}, ${error}, count(*), CAST(max(${at}) AS INTEGER) ${from}
      AND (EXISTS (SELECT 1 FROM usage_errors AS stored WHERE ${own} AND stored.error = ${error})
        OR (SELECT count(*) FROM usage_errors AS stored WHERE ${own}) < ${MAX_ERRORS_PER_HALF_HOUR})
    GROUP BY 1, 2, 3
    ON CONFLICT (tenant_id, half_hour, error)
      DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)`
}

/** SQL for the number of the half hour that contains a time. */
const halfHourOf = (at: string): string => `CAST(${at} / ${HALF_HOUR_MS} AS INTEGER)`
