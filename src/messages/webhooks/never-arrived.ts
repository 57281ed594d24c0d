import type { Clock } from '../../core/clock.ts'
import { DAY_MS, DELIVERY_RETENTION_DAYS } from '../../core/limits.ts'
import { IS_IN_USE } from '../usage/destination-rows.ts'

/**
 * SQL: how many deliveries of each tenant never arrived, as `tenant_id` and `count`: their latest attempt failed, none is planned, and their
 * destination exists. `earliest` is an expression for `earliestAt`.
 */
export const neverArrivedByTenant = (
  earliest: string,
): string => `SELECT tenant_id, count(*) AS count FROM webhook_attempts AS latest
  WHERE outcome <> 'success' AND attempted_at >= ${earliest} AND ${IS_IN_USE}
    AND NOT EXISTS (SELECT 1 FROM webhook_attempts AS later
      WHERE later.delivery_id = latest.delivery_id AND later.attempt_number > latest.attempt_number)
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = 'webhook_retry' AND jobs.subject = latest.delivery_id)
  GROUP BY tenant_id`

/** The earliest attempt that still counts, epoch milliseconds: older ones are about to be deleted. */
export const earliestAt = (clock: Pick<Clock, 'now'>): number => clock.now() - DELIVERY_RETENTION_DAYS * DAY_MS
