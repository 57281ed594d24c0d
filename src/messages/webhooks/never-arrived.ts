import type { Clock } from '../../core/clock.ts'
import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../../core/limits.ts'
import type { DestinationKind } from '../../db/schema/webhooks.ts'
import type { Reader } from '../../db/reader.ts'
import { IS_IN_USE } from '../usage/destination-rows.ts'

const HAS_NO_RETRY = `NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = 'webhook_retry' AND jobs.subject = delivery_id)`

/**
 * SQL: whether a row of `webhook_attempts` is the latest attempt of a delivery that never arrived: it failed, no other attempt is in progress
 * or planned, its destination exists, and it was not dismissed. A failure is recorded when it happens, and the rest is checked here, so that
 * giving up a retry or activating an app needs no further write.
 */
export const NEVER_ARRIVED = `is_unresolved = 1 AND ${HAS_NO_RETRY} AND ${IS_IN_USE}`

/** The rows of `where`, by tenant and destination. Reads only the index. */
const countsOf = (where: string): string => `SELECT * FROM (
    SELECT tenant_id, target_id, kind, count(*) AS count, min(attempted_at) AS since
    FROM webhook_attempts INDEXED BY webhook_attempts_unresolved
    WHERE is_unresolved = 1 AND ${where} AND ${HAS_NO_RETRY} GROUP BY tenant_id, target_id, kind)
  WHERE ${IS_IN_USE}`

/** SQL: how many deliveries of each tenant never arrived, as `tenant_id` and `count`. `earliest` is an expression for `earliestAt`. */
export const neverArrivedByTenant = (earliest: string): string =>
  `SELECT tenant_id, sum(count) AS count FROM (${countsOf(`attempted_at >= ${earliest}`)}) GROUP BY tenant_id`

/** The earliest attempt that still counts, epoch milliseconds: older ones are about to be deleted. */
export const earliestAt = (clock: Pick<Clock, 'now'>): number => clock.now() - DELIVERY_RETENTION_DAYS * DAY_MS

/** Deliveries to one destination that never arrived. */
export interface NeverArrived {
  targetId: string
  kind: DestinationKind
  /** Its current address. */
  url: string
  count: number
  /** When the earliest of their latest attempts began, epoch milliseconds. */
  since: number
}

const ADDRESS = `coalesce((SELECT callback_url FROM triggers WHERE id = target_id), (SELECT webhook_url FROM apps WHERE id = target_id))`

/** A tenant's deliveries that never arrived, by destination, oldest first. Omits destinations without any. */
export async function readNeverArrived(
  { database, clock }: { database: { reader: Reader }; clock: Clock },
  tenantId: string,
): Promise<NeverArrived[]> {
  const sql = `SELECT *, ${ADDRESS} AS url FROM (${countsOf('tenant_id = ?1 AND attempted_at >= ?2')}) ORDER BY since`
  const rows = await database.reader.longRead(tenantId, sql, [tenantId, earliestAt(clock)])
  return rows.map((row) => ({
    targetId: String(row['target_id']),
    kind: row['kind'] === 'trigger' ? 'trigger' : 'app',
    url: String(row['url']),
    count: Number(row['count']),
    since: Number(row['since']),
  }))
}
