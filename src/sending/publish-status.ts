import type { MessageFailure } from '../core/message-failure.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import { statusEvent } from '../realtime/event.ts'
import type { Hub } from '../realtime/hub.ts'

interface MessageOfEvent {
  id: string
  appId: string
  tenantId: string
}

interface StatusDetails {
  rcMessageId?: string | null
  failure?: MessageFailure | null
}

/** Publishes an `sms_status` event. `at` is the time of the change, which is also the message's `updatedAt`. */
export function publishStatus(
  { hub }: { hub: Hub },
  message: MessageOfEvent,
  status: MessageStatus,
  at: number,
  details: StatusDetails = {},
): void {
  if (!hub.hasListeners) return
  const { id, appId, tenantId } = message
  const { rcMessageId = null, failure = null } = details
  const event = statusEvent({ id, appId, tenantId, rcMessageId, error: failure?.text ?? null }, status, at)
  hub.publish(event, failure?.code)
}

/**
 * Publishes the end of a message that has no open attempt. Clients expect `sending` before every end, so a queued message gets
 * that event first. Only a cancelled message goes from `queued` to `failed`.
 */
export function publishEnd(
  context: { hub: Hub },
  message: MessageOfEvent & { status: unknown },
  status: 'sent' | 'failed',
  at: number,
  details: StatusDetails,
): void {
  if (message.status === 'queued') publishStatus(context, message, 'sending', at)
  publishStatus(context, message, status, at, details)
}
