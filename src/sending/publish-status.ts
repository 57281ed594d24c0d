import type { MessageFailure } from '../core/message-failure.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import { statusEvent } from '../realtime/event.ts'
import type { Hub } from '../realtime/hub.ts'

/** Publishes an `sms_status` event. `at` is the time of the change, which is also the message's `updatedAt`. */
export function publishStatus(
  { hub }: { hub: Hub },
  message: { id: string; appId: string; tenantId: string },
  status: MessageStatus,
  at: number,
  result: { rcMessageId?: string | null; failure?: MessageFailure | null } = {},
): void {
  if (!hub.hasListeners) return
  const { id, appId, tenantId } = message
  const { rcMessageId = null, failure = null } = result
  const event = statusEvent({ id, appId, tenantId, rcMessageId, error: failure?.text ?? null }, status, at)
  hub.publish(event, failure?.code)
}
