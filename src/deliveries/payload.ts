import { isoTime } from '../core/clock.ts'
import type { WebhookEvent } from '../db/schema/webhooks.ts'
import type { Row } from '../db/connection.ts'

/** What is posted: the fields of the WebSocket event. */
export type Payload = Readonly<Record<string, unknown>>

export interface InboundMessage {
  messageId: string
  tenantId: string
  from: string
  to: string
  body: string
  rcMessageId: string
  receivingExtensionId: string | null
  /** Epoch milliseconds. */
  timestamp: number
}

export const inboundPayload = ({ timestamp, receivingExtensionId, tenantId, ...message }: InboundMessage): Payload => ({
  type: 'sms_inbound',
  ...message,
  tenantId,
  timestamp: isoTime(timestamp),
  ...(receivingExtensionId === null ? {} : { receivingExtensionId }),
})

/** The payload of a delivery that is read from the tables. `row`: its message, with the stored `payload` if the event has one. */
export function payloadOf(event: WebhookEvent, row: Row): Payload {
  if (event === 'sms_inbound') return inboundPayload(inboundMessageOf(row))
  const stored = textOf(row['payload'])
  if (stored === null) return statusPayload(row)
  return JSON.parse(stored) as Payload
}

const inboundMessageOf = (row: Row): InboundMessage => ({
  messageId: String(row['id']),
  from: String(row['from_number']),
  to: String(row['to_number']),
  body: String(row['body']),
  rcMessageId: String(row['rc_message_id']),
  tenantId: String(row['tenant_id']),
  timestamp: Number(row['created_at']),
  receivingExtensionId: textOf(row['receiving_extension_id']),
})

/** The message has ended, so its row has not changed since the event. */
function statusPayload(row: Row): Payload {
  const status = String(row['status'])
  const rcMessageId = textOf(row['rc_message_id'])
  const error = textOf(row['error'])
  return {
    type: 'sms_status',
    messageId: String(row['id']),
    appId: String(row['app_id']),
    tenantId: String(row['tenant_id']),
    status,
    ...(status === 'sent' && rcMessageId !== null ? { rcMessageId } : {}),
    ...(error === null ? {} : { error }),
    timestamp: isoTime(Number(row['updated_at'])),
  }
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
