import { z } from 'zod'
import { contactNumber, messageId, ownNumber, pageFields, time } from '../fields/answer-fields.ts'
import { MessageDirection, MessageStatus } from '../fields/named-enums.ts'
import { DeliveryStatus } from '../fields/delivery-status.ts'
import { contactFilter, oneOfFilter, ownNumberFilter, pageNumber, pageSize } from '../http/list-query.ts'

export const ConversationsQuery = z.object({
  number: ownNumberFilter,
  contact: contactFilter,
  include: oneOfFilter(z.enum(['delivery'])).meta({
    example: 'delivery',
    description: '`delivery` adds `error` and `deliveryStatus` to outbound messages',
  }),
  page: pageNumber,
  limit: pageSize,
})
export type ConversationsQuery = z.output<typeof ConversationsQuery>

const Conversation = z
  .object({
    number: ownNumber.meta({ description: "The tenant's own number" }),
    contact: contactNumber,
    lastMessage: z.object({
      messageId,
      direction: MessageDirection,
      status: MessageStatus,
      body: z.string(),
      createdAt: time,
      error: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'With `include=delivery`, of outbound messages: set when status is failed' }),
      deliveryStatus: DeliveryStatus.optional().meta({ description: 'With `include=delivery`, of outbound messages' }),
    }),
    optedOut: z.boolean().meta({ description: 'Whether the contact has opted out of the number' }),
  })
  .meta({ id: 'Conversation' })
export type Conversation = z.infer<typeof Conversation>

const EXAMPLE: Conversation = {
  number: '+15555550100',
  contact: '+15555550199',
  lastMessage: {
    messageId: 'msg_0123456789ab',
    direction: 'inbound',
    status: 'received',
    body: 'See you then',
    createdAt: '2026-11-21T02:30:00.000Z',
  },
  optedOut: false,
}

export const ConversationList = z
  .object({ conversations: z.array(Conversation), ...pageFields })
  .meta({ id: 'ConversationList', example: { conversations: [EXAMPLE], total: 1, page: 1, limit: 20 } })
export type ConversationList = z.infer<typeof ConversationList>
