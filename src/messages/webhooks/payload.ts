import { type Row, textOrNull } from '../../db/connection.ts'
import type { WebhookEvent } from '../../db/schema/webhooks.ts'
import { type EventSubject, type GatewayEvent, eventOf } from '../realtime/event.ts'

/** The body of a POST: the fields of the WebSocket event. `row` is the stored message, with `at` and `detail` of `webhook_details` if the event has such a row. */
export function payloadOf(event: WebhookEvent, row: Row): GatewayEvent {
  switch (event) {
    case 'sms_inbound':
      return eventOf(subjectOf(row, row['created_at']), 'received')
    // The message has ended, so its row has not changed since the event.
    case 'sms_status':
      return eventOf(subjectOf(row, row['updated_at']), row['status'] === 'sent' ? 'sent' : 'failed')
    case 'sms_delivery':
      return eventOf(subjectOf(row, row['at']), 'delivery')
    case 'opt_out':
      return eventOf(optOutOf(row), 'optOut')
  }
}

/** The message is the contact's keyword, or a message to the contact that the provider refused. */
function optOutOf(row: Row): EventSubject {
  const message = subjectOf(row, row['at'])
  return row['direction'] === 'inbound' ? { ...message, from: message.to, to: message.from } : message
}

const subjectOf = (row: Row, at: Row[string] | undefined): EventSubject => ({
  id: String(row['id']),
  appId: String(row['app_id']),
  tenantId: String(row['tenant_id']),
  from: String(row['from_number']),
  to: String(row['to_number']),
  body: String(row['body']),
  rcMessageId: textOrNull(row['rc_message_id']),
  error: textOrNull(row['error']),
  receivingExtensionId: textOrNull(row['receiving_extension_id']),
  at: Number(at),
  detail: textOrNull(row['detail']),
})
