import type { Caller } from '../../auth/caller.ts'
import { ApiError, MESSAGE_ERRORS } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { publishStatus } from './publish-status.ts'
import { getStatus } from './get-status.ts'

/** Ends a message that is still queued. Errors: `messageNotFound`, a conflict that names the status it has. */
export async function cancel(gateway: Gateway, caller: Caller, messageId: string): Promise<{ ok: true }> {
  const now = gateway.clock.now()
  const [updated] = await gateway.database.writer.write([
    {
      sql: `UPDATE messages SET status = 'failed', error = ?3, updated_at = ?4
        WHERE tenant_id = ?1 AND id = ?2 AND status = 'queued' RETURNING app_id`,
      args: [caller.tenantId, messageId, MESSAGE_ERRORS.cancelled, now],
    },
    {
      sql: `DELETE FROM jobs WHERE kind = 'send' AND subject = ?2
        AND lane = (SELECT from_number FROM messages WHERE tenant_id = ?1 AND id = ?2 AND status = 'failed')`,
      args: [caller.tenantId, messageId],
    },
  ])
  const row = updated?.rows[0]
  if (row === undefined) {
    const { status } = await getStatus(gateway, caller, messageId)
    throw new ApiError('conflict', `Message is already ${status}`)
  }
  const message = { id: messageId, appId: String(row['app_id']), tenantId: caller.tenantId }
  publishStatus(gateway, message, 'failed', now, { error: MESSAGE_ERRORS.cancelled })
  return { ok: true }
}
