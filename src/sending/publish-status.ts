import { isoTime } from '../core/clock.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import type { Hub } from '../realtime/hub.ts'

/** Publishes an `sms_status` event; `at` is the time of the change, which is also the message's `updatedAt`. */
export function publishStatus(
  { hub }: { hub: Hub },
  message: { id: string; appId: string; tenantId: string },
  status: MessageStatus,
  at: number,
  result: { rcMessageId?: string; error?: string } = {},
): void {
  if (!hub.isHeard) return
  const { id, appId, tenantId } = message
  hub.publish({ type: 'sms_status', messageId: id, appId, tenantId, status, ...result, timestamp: isoTime(at) })
}
