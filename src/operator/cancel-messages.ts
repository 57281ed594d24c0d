import type { z } from 'zod'
import { cancel } from '../api/sms/cancel.ts'
import { ApiError, apiError } from '../core/errors.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import type { Row } from '../db/connection.ts'
import type { Gateway } from '../messages/gateway.ts'
import { readTenant } from './tenants.ts'
import type { CancelAnswer, CancelBody } from './schemas.ts'

/**
 * Cancels the named messages, or those of a tenant that wait or are scheduled, whatever the state of the tenant. `left` counts those that
 * could no longer be cancelled: they are being sent, or have ended. `dryRun` only counts. Errors: `messageNotFound` and `tenantNotFound`;
 * then nothing is cancelled.
 */
export async function cancelMessages(gateway: Gateway, { dryRun, ...wish }: CancelWish): Promise<CancelAnswer> {
  const found =
    wish.messageIds === undefined ? await findWaiting(gateway, wish) : await findNamed(gateway, wish.messageIds)
  const queued = found.filter(({ status }) => status === 'queued')
  const cancelled = dryRun ? queued.length : await cancelAll(gateway, queued)
  return { cancelled, left: found.length - cancelled }
}

type CancelWish = z.output<typeof CancelBody>
type QueuedMessage = Readonly<Record<'id' | 'tenantId', string>>
type Found = QueuedMessage & { readonly status: string }

/** Cancels messages in small commits. Returns how many were still queued when their turn came. */
export async function cancelAll(gateway: Gateway, queued: readonly QueuedMessage[]): Promise<number> {
  if (queued.length === 0) return 0
  const jobSeqs = await sendJobsOf(gateway, queued)
  let next = 0
  return inBatches(gateway, async () => {
    const batch = queued.slice(next, (next += ROWS_PER_BATCH))
    const results = await Promise.all(batch.map((message) => tryCancel(gateway, message, jobSeqs.get(message.id))))
    return { count: results.filter(Boolean).length, last: next >= queued.length }
  })
}

/** Also finds messages that are not in memory: without a server, none are. */
async function sendJobsOf({ database }: Gateway, queued: readonly QueuedMessage[]): Promise<Map<string, number>> {
  const rows = await database.reader.longRead('operator', SEND_JOBS, [JSON.stringify(queued.map(({ id }) => id))])
  return new Map(rows.map(({ subject, seq }) => [String(subject), Number(seq)]))
}

const SEND_JOBS = `SELECT subject, seq FROM jobs INDEXED BY jobs_sends
  WHERE kind = 'send' AND subject IN (SELECT value FROM json_each(?1))`

async function tryCancel(gateway: Gateway, { id, tenantId }: QueuedMessage, jobSeq?: number): Promise<boolean> {
  try {
    await cancel(gateway, { tenantId }, id, jobSeq)
    return true
  } catch (error) {
    // It has been sent or erased since.
    if (error instanceof ApiError) return false
    throw error
  }
}

async function findNamed({ database }: Gateway, messageIds: readonly string[]): Promise<Found[]> {
  const named = new Set(messageIds)
  const sql = 'SELECT id, tenant_id, status FROM messages WHERE id IN (SELECT value FROM json_each(?1))'
  const { rows } = await database.gate.execute({ sql, args: [JSON.stringify([...named])] })
  if (rows.length < named.size) throw apiError('messageNotFound')
  return rows.map(foundIn)
}

async function findWaiting(
  gateway: Gateway,
  { tenantId = '', appId, state }: Omit<CancelWish, 'dryRun'>,
): Promise<Found[]> {
  await readTenant(gateway, tenantId)
  const args = [tenantId, appId ?? null, state ?? null, gateway.clock.now()]
  return (await gateway.database.reader.longRead(tenantId, WAITING, args)).map(foundIn)
}

const WAITING = `SELECT id, tenant_id, status FROM messages INDEXED BY messages_by_tenant
  WHERE tenant_id = ?1 AND status IN ('queued', 'sending') AND (?2 IS NULL OR app_id = ?2)
    AND (?3 IS NULL OR ?3 = iif(coalesce(send_at, 0) <= ?4, 'waiting', 'scheduled'))
  ORDER BY created_at, seq`

const foundIn = (row: Row): Found => ({
  id: String(row['id']),
  tenantId: String(row['tenant_id']),
  status: String(row['status']),
})
