import type { Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import { MESSAGE_FAILURES } from '../../core/message-failure.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { countErrors, countUsage } from '../../messages/usage/roll-up.ts'
import { getStatus } from './get-status.ts'

/**
 * Ends a message that is still queued. `jobSeq`: its send job, by default the one in memory. Errors: `messageNotFound`, or a conflict that
 * names its status.
 */
export async function cancel(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  messageId: string,
  jobSeq = gateway.sending.jobSeqOf(messageId),
): Promise<{ ok: true }> {
  const now = gateway.clock.now()
  const failure = MESSAGE_FAILURES.cancelled
  const [, , updated] = await gateway.database.writer.write([
    { sql: COUNT_CANCELLED, args: [caller.tenantId, messageId, now] },
    { sql: COUNT_ERROR, args: [caller.tenantId, messageId, now, failure.text] },
    {
      sql: `UPDATE messages SET status = 'failed', error = ?3, error_code = ?4, updated_at = ?5
        WHERE tenant_id = ?1 AND id = ?2 AND status = 'queued' RETURNING id`,
      args: [caller.tenantId, messageId, failure.text, failure.code, now],
    },
    {
      // The job of a message that is not in memory stays until its turn, and is then deleted.
      sql: `DELETE FROM jobs WHERE seq = ?3 AND subject = ?2 AND tenant_id = ?1
        AND EXISTS (SELECT 1 FROM messages WHERE tenant_id = ?1 AND id = ?2 AND status = 'failed')`,
      args: [caller.tenantId, messageId, jobSeq],
    },
    {
      sql: `DELETE FROM jobs WHERE kind = 'schedule' AND lane = ?2 AND tenant_id = ?1
        AND EXISTS (SELECT 1 FROM messages WHERE tenant_id = ?1 AND id = ?2 AND status = 'failed')`,
      args: [caller.tenantId, messageId],
    },
  ])
  if (updated?.rows.length !== 1) {
    const { status } = await getStatus(gateway, caller, messageId)
    throw new ApiError('conflict', `Message is already ${status}`)
  }
  const entered = gateway.sending.jobSeqOf(messageId)
  gateway.sending.messageEnded(messageId)
  // It came into memory during the commit, for example because its `sendAt` had come. Nothing else would delete its job.
  if (entered !== null && entered !== jobSeq) await deleteJob(gateway, caller, messageId, entered)
  return { ok: true }
}

async function deleteJob(
  { database }: Gateway,
  { tenantId }: Pick<Caller, 'tenantId'>,
  messageId: string,
  seq: number,
): Promise<void> {
  const sql = 'DELETE FROM jobs WHERE seq = ?1 AND subject = ?2 AND tenant_id = ?3'
  await database.writer.write([{ sql, args: [seq, messageId, tenantId] }])
}

const QUEUED = {
  tenantId: 'queued.tenant_id',
  at: '?3',
  from: `FROM messages AS queued WHERE queued.tenant_id = ?1 AND queued.id = ?2 AND queued.status = 'queued'`,
}
const COUNT_CANCELLED = countUsage({ ...QUEUED, appId: 'queued.app_id', counts: { failed: '1', cancelled: '1' } })
const COUNT_ERROR = countErrors({ ...QUEUED, error: '?4' })
