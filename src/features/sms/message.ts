import { z } from 'zod'
import { isoTime } from '../../core/clock.ts'
import { type Members, itemOf, shown, shownIfAny, shownTime } from '../../db/lists/item.ts'
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
  messageId: shown(messages.id),
  jobId: shown(messages.jobId),
  appId: shown(messages.appId),
  tenantId: shown(messages.tenantId),
  userId: shown(messages.userId),
  direction: shown(messages.direction),
  status: shown(messages.status),
  rcMessageId: shown(messages.rcMessageId),
  error: shown(messages.error),
  to: shown(messages.to),
  from: shown(messages.from),
  body: shown(messages.body),
  receivingExtensionId: shownIfAny(messages.receivingExtensionId),
  createdAt: shownTime(messages.createdAt),
  updatedAt: shownTime(messages.updatedAt),
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
