import { isoTime } from '../../core/clock.ts'
import type { MessageStatus } from '../../db/schema/messages.ts'
import type { SmsStatusEvent } from '../../realtime/hub.ts'

/** An `sms_status` event; `at` is the time of the change, which is also the message's `updatedAt`. */
export function statusEvent(
  message: { id: string; appId: string; tenantId: string },
  status: MessageStatus,
  at: number,
  result: { rcMessageId?: string; error?: string } = {},
): SmsStatusEvent {
  const { id, appId, tenantId } = message
  return { type: 'sms_status', messageId: id, appId, tenantId, status, ...result, timestamp: isoTime(at) }
}
