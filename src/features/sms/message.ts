import { z } from 'zod'
import { isoTime } from '../../core/clock.ts'
import { type Members, itemOf, field, optionalField, timeField } from '../../db/lists/item.ts'
import { DIRECTIONS, MESSAGE_STATUSES, messages } from '../../db/schema/messages.ts'
import { DeliveryStatus } from './timeline-schema.ts'
import { ShownWaiting } from './waiting.ts'

type MessageRow = typeof messages.$inferSelect

const timestamp = z.string().meta({ format: 'date-time' })

/** The contract's Message, as lists show it. */
export const Message = z.object({
  messageId: z.string(),
  jobId: z.string(),
  appId: z.string(),
  tenantId: z.string(),
  userId: z.string().nullable(),
  direction: z.enum(DIRECTIONS),
  to: z.string(),
  from: z.string(),
  body: z.string(),
  status: z.enum(MESSAGE_STATUSES),
  rcMessageId: z.string().nullable().meta({ description: "The provider's message id" }),
  error: z.string().nullable().meta({ description: 'Set when status is failed' }),
  receivingExtensionId: z.string().optional().meta({ description: 'Inbound messages only' }),
  createdAt: timestamp,
  updatedAt: timestamp,
})

/** With `include=delivery`; outbound messages only. */
export const MessageWithDelivery = Message.extend({
  deliveryStatus: DeliveryStatus.optional(),
  sendAt: timestamp.nullable().optional(),
  waiting: ShownWaiting.optional(),
})

/** SQL for a `Message` from a row. */
export const MESSAGE_ITEM = itemOf({
  messageId: field(messages.id),
  jobId: field(messages.jobId),
  appId: field(messages.appId),
  tenantId: field(messages.tenantId),
  userId: field(messages.userId),
  direction: field(messages.direction),
  status: field(messages.status),
  rcMessageId: field(messages.rcMessageId),
  error: field(messages.error),
  to: field(messages.to),
  from: field(messages.from),
  body: field(messages.body),
  receivingExtensionId: optionalField(messages.receivingExtensionId),
  createdAt: timeField(messages.createdAt),
  updatedAt: timeField(messages.updatedAt),
} satisfies Members<z.infer<typeof Message>>)

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
})
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
