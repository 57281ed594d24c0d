import { isoTime } from '../core/clock.ts'
import type { MessageFailure } from '../core/message-failure.ts'
import type { MessageStatus } from '../db/schema/messages.ts'
import type { Hub } from '../realtime/hub.ts'

/** Publishes an `sms_status` event; `at` is the time of the change, which is also the message's `updatedAt`. */
export function publishStatus(
  { hub }: { hub: Hub },
  message: { id: string; appId: string; tenantId: string },
  status: MessageStatus,
  at: number,
  result: { rcMessageId?: string | null; failure?: MessageFailure | null } = {},
): void {
  if (!hub.isHeard) return
  const { id, appId, tenantId } = message
  const { rcMessageId = null, failure = null } = result
  const fields = {
    ...(status === 'sent' && rcMessageId !== null ? { rcMessageId } : {}),
    ...(failure === null ? {} : { error: failure.text }),
  }
  const event = {
    type: 'sms_status',
    messageId: id,
    appId,
    tenantId,
    status,
    ...fields,
    timestamp: isoTime(at),
  } as const
  hub.publish(event, failure?.code)
}
