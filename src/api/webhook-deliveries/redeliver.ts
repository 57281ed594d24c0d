import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { addressOf } from '../../messages/webhooks/delivery.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { HAS_DESTINATION, REDELIVER } from './redelivery-rows.ts'
import type { Redelivered } from './schemas.ts'

/**
 * Schedules an attempt of a delivery now: the waiting retry if there is one, otherwise a single further attempt. Errors: `deliveryNotFound`,
 * `deliveryInProgress` while an attempt is due or in progress, `deliveryWithoutDestination`.
 */
export async function redeliver(gateway: Gateway, caller: Caller, deliveryId: string): Promise<Redelivered> {
  const { clock, database, jobs } = gateway
  const [made] = await database.writer.write([
    { sql: REDELIVER, args: [caller.tenantId, deliveryId, Math.ceil(clock.steady())] },
  ])
  const row = made?.rows[0]
  if (row === undefined) throw await refusalOf(gateway, caller, deliveryId)
  jobs.wake('webhook_retry', String(row['lane']), caller.tenantId, 0)
  return { deliveryId, attemptNumber: Number(row['attempt_number']) }
}

async function refusalOf({ database }: Gateway, { tenantId }: Caller, deliveryId: string): Promise<Error> {
  const { rows } = await database.gate.execute({
    sql: `SELECT outcome, ${HAS_DESTINATION} AS has_destination FROM webhook_attempts AS latest
      WHERE tenant_id = ?1 AND delivery_id = ?2 ORDER BY attempt_number DESC LIMIT 1`,
    args: [tenantId, deliveryId],
  })
  const [latest] = rows
  if (latest === undefined && !(await isWaiting({ database }, tenantId, deliveryId)))
    return apiError('deliveryNotFound')
  const isLost = latest !== undefined && latest['outcome'] !== null && latest['has_destination'] === 0
  return apiError(isLost ? 'deliveryWithoutDestination' : 'deliveryInProgress')
}

/** Whether the first attempt of a delivery is still to be made. */
async function isWaiting(
  { database }: Pick<Gateway, 'database'>,
  tenantId: string,
  deliveryId: string,
): Promise<boolean> {
  const sql = "SELECT 1 FROM jobs WHERE kind = 'webhook' AND lane = ?1 AND tenant_id = ?2 AND subject = ?3 LIMIT 1"
  const { rows } = await database.gate.execute({ sql, args: [addressOf(deliveryId).targetId, tenantId, deliveryId] })
  return rows.length > 0
}
