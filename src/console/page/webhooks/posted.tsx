import type { DeliveryAttempt, MessageState } from '../../../client/client.ts'
import { isOnePane } from '../parts/media.ts'
import { client } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'
import { eventNameOf } from './words.ts'

/** The request of a delivery's latest attempt. Its address and times are stored; its body is created again from the message as it is now. */
export function Posted({ attempt }: { attempt: DeliveryAttempt }) {
  const { messageId, deliveryId } = attempt
  const read = async () => (await client.value?.sms.get(messageId)) ?? null
  const { value } = useLoading(read, [deliveryId])
  const body = value.value === null ? null : bodyOf(attempt, value.value)
  return (
    <section>
      <h3 aria-level={isOnePane.value ? 2 : 3}>Request</h3>
      <pre class="posted">
        {headOf(attempt)}
        {body !== null && <span class="mask">{`\n\n${JSON.stringify(body, null, 2)}`}</span>}
      </pre>
      <p class="small dim">
        {body === null
          ? 'The body of this event is not kept. '
          : 'The body is made again from the message; it was posted without line breaks. '}
        The signatures are not kept.
      </p>
    </section>
  )
}

/** The request line and its headers. They are signed in the second in which the attempt begins. */
function headOf({ url, deliveryId, attemptedAt }: DeliveryAttempt): string {
  const seconds = Math.floor(Date.parse(attemptedAt) / 1000)
  return [
    `POST ${url}`,
    'Content-Type: application/json',
    'User-Agent: sgw/1.0',
    `webhook-id: ${deliveryId}`,
    `webhook-timestamp: ${seconds}`,
    `X-Gateway-Timestamp: ${seconds}`,
  ].join('\n')
}

/** The fields of the event, as docs/receive.md lists them; null if the event has fields that the message lacks. */
function bodyOf({ deliveryId, appId, triggerId, tenantId }: DeliveryAttempt, message: MessageState): object | null {
  const { messageId, from, to, body, status, createdAt, updatedAt, receivingExtensionId } = message
  const rcMessageId = message.rcMessageId ?? ''
  const type = eventNameOf(deliveryId)
  if (type === 'sms_inbound') {
    const timestamp = createdAt
    return { type, messageId, from, to, body, rcMessageId, tenantId, timestamp, receivingExtensionId, triggerId }
  }
  if (type !== 'sms_status' || (status !== 'sent' && status !== 'failed')) return null
  const outcome = status === 'sent' ? { rcMessageId } : { error: message.error }
  return { type, messageId, appId, tenantId, status, ...outcome, timestamp: updatedAt }
}
