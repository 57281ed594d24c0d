import { z } from 'zod'
import { appId, contactNumber, messageId, ownNumber, pageFields, tenantId, time } from '../fields/answer-fields.ts'
import { DeliveryError, DeliveryStatus } from '../fields/delivery-status.ts'
import { MessageDirection, MessageStatus } from '../fields/named-enums.ts'
import { isoTime, isoTimeOf } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { messages } from '../../db/schema/messages.ts'
import { attachmentCount } from './timeline-schema.ts'
import { ShownWaiting } from '../fields/waiting.ts'

type MessageRow = typeof messages.$inferSelect

/** The contract's Message, as lists show it. */
export const Message = z.object({
  messageId,
  jobId: z.string(),
  appId,
  tenantId,
  userId: z.string().nullable(),
  direction: MessageDirection,
  to: contactNumber,
  from: ownNumber,
  body: z.string(),
  status: MessageStatus,
  rcMessageId: z.string().nullable().meta({ description: "The provider's message id" }),
  error: z.string().nullable().meta({ description: 'Set when status is failed' }),
  receivingExtensionId: z.string().optional().meta({ description: 'Inbound messages only' }),
  createdAt: time,
  updatedAt: time,
})

export type Message = z.infer<typeof Message>

const MessageWebhooks = z
  .object({
    failed: z.int(),
    total: z.int(),
    lastStatusCode: z.int().nullable().meta({ description: 'Of the newest attempt; null if it had no response' }),
  })
  .meta({
    id: 'MessageWebhooks',
    description: 'The deliveries of the message, by the latest attempt of each that has ended',
    example: { failed: 1, total: 2, lastStatusCode: 500 },
  })

/** With `include=delivery`: `webhooks` for every message, `attachments` for inbound ones and those with media, all others for outbound ones. */
export const MessageWithDelivery = Message.extend({
  webhooks: MessageWebhooks.nullable().optional().meta({ description: 'Null if the message has no delivery' }),
  deliveryStatus: DeliveryStatus.optional(),
  deliveryError: DeliveryError.nullable().optional().meta({ description: 'Why it was not delivered, else null' }),
  sendAt: time.nullable().optional(),
  waiting: ShownWaiting.optional(),
  attachments: attachmentCount.optional(),
}).meta({ id: 'Message' })
export const MessageList = z
  .object({ messages: z.array(MessageWithDelivery), ...pageFields })
  .meta({ id: 'MessageList' })
export type MessageWithDelivery = z.infer<typeof MessageWithDelivery>

/** The message of a row of `messages`. */
export const messageOf = (row: Row): Message => ({
  messageId: String(row['id']),
  jobId: String(row['job_id']),
  appId: String(row['app_id']),
  tenantId: String(row['tenant_id']),
  userId: textOrNull(row['user_id']),
  direction: row['direction'] as Message['direction'],
  status: row['status'] as Message['status'],
  rcMessageId: textOrNull(row['rc_message_id']),
  error: textOrNull(row['error']),
  to: String(row['to_number']),
  from: String(row['from_number']),
  body: String(row['body']),
  ...(row['receiving_extension_id'] === null ? {} : { receivingExtensionId: String(row['receiving_extension_id']) }),
  createdAt: isoTimeOf(row['created_at']),
  updatedAt: isoTimeOf(row['updated_at']),
})

const textOrNull = (value: Row[string] | undefined): string | null => (typeof value === 'string' ? value : null)

/** The response of the status endpoint. */
export const MessageState = Message.pick({
  messageId: true,
  status: true,
  rcMessageId: true,
  error: true,
  to: true,
  from: true,
  body: true,
  receivingExtensionId: true,
  createdAt: true,
  updatedAt: true,
}).meta({ id: 'SmsStatus', description: 'One message, as it is now' })
export type MessageState = z.infer<typeof MessageState>

export function messageState(row: MessageRow): MessageState {
  return {
    messageId: row.id,
    status: row.status,
    rcMessageId: row.rcMessageId,
    error: row.error,
    to: row.to,
    from: row.from,
    body: row.body,
    ...(row.receivingExtensionId === null ? {} : { receivingExtensionId: row.receivingExtensionId }),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}
