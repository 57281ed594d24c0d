import { z } from 'zod'
import { DIRECTIONS, MESSAGE_STATUSES } from '../../db/schema/messages.ts'
import { numberFilter, pageNumber, pageSize } from '../../http/list-query.ts'

export const ConversationsQuery = z.object({
  number: numberFilter,
  contact: numberFilter,
  page: pageNumber,
  limit: pageSize,
})
export type ConversationsQuery = z.output<typeof ConversationsQuery>

const Conversation = z.object({
  number: z.string().meta({ description: "The tenant's own number" }),
  contact: z.string(),
  lastMessage: z.object({
    messageId: z.string(),
    direction: z.enum(DIRECTIONS),
    status: z.enum(MESSAGE_STATUSES),
    body: z.string(),
    createdAt: z.string().meta({ format: 'date-time' }),
  }),
  optedOut: z.boolean().meta({ description: 'Whether the contact has opted out of the number' }),
})
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
  .object({ conversations: z.array(Conversation), total: z.int(), page: z.int(), limit: z.int() })
  .meta({ example: { conversations: [EXAMPLE], total: 1, page: 1, limit: 20 } })
export type ConversationList = z.infer<typeof ConversationList>
