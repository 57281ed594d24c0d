import type { Caller } from '../../core/caller.ts'
import { FAILURES_STEP_ROWS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { NEVER_ARRIVED } from '../../messages/webhooks/never-arrived.ts'
import { FAILED_IN_STEP, inTurn, overFailures } from './failed-range.ts'
import type { Dismissed, DismissBody } from './schemas.ts'

const dismissal = (found: string): string =>
  `UPDATE webhook_attempts SET is_unresolved = NULL WHERE tenant_id = ?1 AND seq IN (${found}) RETURNING seq`

const IN_STEP = dismissal(
  `SELECT seq FROM webhook_attempts AS latest WHERE tenant_id = ?1 AND ${FAILED_IN_STEP} AND ${NEVER_ARRIVED} LIMIT ?9`,
)

/** `?2`: ids of deliveries, as JSON. Reads only the latest attempt of each, because there may be thousands. */
const NAMED = dismissal(`SELECT latest.seq FROM json_each(?2) AS named
  CROSS JOIN webhook_attempts AS latest ON latest.seq = (SELECT own.seq FROM webhook_attempts AS own
    WHERE own.tenant_id = ?1 AND own.delivery_id = named.value ORDER BY own.attempt_number DESC LIMIT 1)
  WHERE latest.tenant_id = ?1 AND ${NEVER_ARRIVED}`)

/**
 * Stops counting deliveries that never arrived, until another attempt of them fails. Deliveries that arrived, are in progress or are unknown
 * stay as they are. Errors: `forbidden` for an app or trigger that is not the tenant's.
 */
export async function dismissDeliveries(
  gateway: Gateway,
  caller: Caller,
  { deliveryIds, since, ...range }: DismissBody,
): Promise<Dismissed> {
  if (typeof since === 'number')
    return { dismissed: await overFailures(gateway, caller, { ...range, since }, { sql: IN_STEP }) }
  const ids = [...new Set(deliveryIds)]
  let dismissed = 0
  for (let at = 0; at < ids.length; at += FAILURES_STEP_ROWS) {
    const args = [caller.tenantId, JSON.stringify(ids.slice(at, at + FAILURES_STEP_ROWS))]
    dismissed += (await inTurn(gateway.database, caller.tenantId, { sql: NAMED, args })).length
  }
  return { dismissed }
}
