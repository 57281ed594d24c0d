import type { Row } from '../db/connection.ts'
import type { WebhookEvent } from '../db/schema/webhooks.ts'
import {
  type ConclusionDetail,
  type OptOutDetail,
  concludedEvent,
  inboundEvent,
  optOutEvent,
  statusEvent,
} from '../realtime/event.ts'

/** The body of a POST: the fields of the WebSocket event. `row` is the stored message, with `at` and `detail` of `webhook_details` if the event has such a row. */
export function payloadOf(event: WebhookEvent, row: Row): object {
  if (event === 'sms_inbound') return inboundPayload(row)
  // The message has ended, so its row has not changed since the event.
  if (event === 'sms_status')
    return statusEvent(outboundOf(row), row['status'] === 'sent' ? 'sent' : 'failed', Number(row['updated_at']))
  return event === 'sms_delivery' ? deliveryPayload(row) : optOutPayload(row)
}

const inboundPayload = (row: Row): object =>
  inboundEvent(
    {
      id: String(row['id']),
      tenantId: String(row['tenant_id']),
      from: String(row['from_number']),
      to: String(row['to_number']),
      body: String(row['body']),
      rcMessageId: String(row['rc_message_id']),
      receivingExtensionId: textOf(row['receiving_extension_id']),
    },
    Number(row['created_at']),
  )

const outboundOf = (row: Row) => ({
  id: String(row['id']),
  appId: String(row['app_id']),
  tenantId: String(row['tenant_id']),
  rcMessageId: textOf(row['rc_message_id']),
  error: textOf(row['error']),
})

const deliveryPayload = (row: Row): object =>
  concludedEvent(outboundOf(row), detailOf(row) as ConclusionDetail, Number(row['at']))

/** The message is the keyword of the contact, or a message to the contact that the provider refused. */
function optOutPayload(row: Row): object {
  const [from, to] = [String(row['from_number']), String(row['to_number'])]
  const [number, contact] = row['direction'] === 'inbound' ? [to, from] : [from, to]
  const subject = { tenantId: String(row['tenant_id']), number, contact }
  return optOutEvent(subject, detailOf(row) as OptOutDetail, Number(row['at']))
}

const detailOf = (row: Row): unknown => JSON.parse(textOf(row['detail']) ?? '{}')

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
