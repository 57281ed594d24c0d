import { z } from 'zod'
import { MAX_TO_ANSWER } from '../../core/limits.ts'
import { contactNumber, messageId, ownNumber, pageFields, time } from '../fields/answer-fields.ts'
import { MessageDirection, MessageStatus } from '../fields/named-enums.ts'
import { DeliveryError, DeliveryStatus } from '../fields/delivery-status.ts'
import { ShownWaiting } from '../fields/waiting.ts'
import {
  contactEndFilter,
  contactFilter,
  oneOfFilter,
  ownNumberFilter,
  pageNumber,
  pageSize,
} from '../http/list-query.ts'

export const ConversationsQuery = z.object({
  number: ownNumberFilter,
  contact: contactFilter,
  contactEndsWith: contactEndFilter,
  include: oneOfFilter(z.enum(['delivery'])).meta({
    example: 'delivery',
    description:
      '`delivery` adds `error`, `deliveryStatus` and `waiting` to outbound messages, `deliveryError` to those that were not delivered, and `attachments` to those with media',
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
      deliveryError: DeliveryError.optional().meta({
        description: 'With `include=delivery`: why it was not delivered; absent if it was, or if that is not known',
      }),
      waiting: ShownWaiting.optional().meta({
        description: 'With `include=delivery`, of outbound messages: why it has not been sent yet',
      }),
      attachments: z.int().optional().meta({
        description: 'With `include=delivery`: how many pictures or other files it carries; absent without any',
      }),
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
  .object({
    conversations: z.array(Conversation),
    toAnswer: z
      .int()
      .max(MAX_TO_ANSWER)
      .meta({
        description: `How many of all conversations that the filters find wait for an answer: the contact wrote last, at most seven days ago, from a number that can be texted, and has not opted out. Counts at most ${MAX_TO_ANSWER}`,
      }),
    ...pageFields,
  })
  .meta({ id: 'ConversationList', example: { conversations: [EXAMPLE], toAnswer: 1, total: 1, page: 1, limit: 20 } })
export type ConversationList = z.infer<typeof ConversationList>
