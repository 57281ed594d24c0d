import type { Caller } from '../../core/caller.ts'
import { MAX_RECOVERED_DELIVERIES } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { overFailures } from './failed-range.ts'
import { RECOVER } from './redelivery-rows.ts'
import type { RangeBody, Recovered } from './schemas.ts'

/**
 * Schedules one attempt for each delivery whose latest attempt failed in a range of time and was not dismissed, oldest first.
 * Errors: `forbidden` for an app or trigger that is not the tenant's.
 */
export async function recoverDeliveries(gateway: Gateway, caller: Caller, body: RangeBody): Promise<Recovered> {
  const { clock, jobs } = gateway
  const scheduled = await overFailures(gateway, caller, body, {
    sql: RECOVER,
    more: [Math.ceil(clock.steady())],
    most: MAX_RECOVERED_DELIVERIES,
    each: (rows) => {
      for (const lane of new Set(rows.map((row) => String(row['lane']))))
        jobs.wake('webhook_retry', lane, caller.tenantId, 0)
    },
  })
  return { scheduled }
}
