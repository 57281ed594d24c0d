import { z } from 'zod'
import { isoTime } from '../../core/clock.ts'
import { reading } from '../../db/lists/row.ts'
import { DIRECTIONS, MESSAGE_STATUSES, messages } from '../../db/schema/messages.ts'

type MessageRow = typeof messages.$inferSelect

const STATE = [
  'id',
  'status',
  'rcMessageId',
  'error',
  'to',
  'from',
  'body',
  'receivingExtensionId',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof MessageRow)[]
export const ITEM = reading(messages, [...STATE, 'jobId', 'appId', 'tenantId', 'userId', 'direction'])
type ItemRow = ReturnType<typeof ITEM.rowsOf>[number]

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
export type Message = z.infer<typeof Message>

/** What the status endpoint answers. */
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

export function messageState(row: Pick<MessageRow, (typeof STATE)[number]>): MessageState {
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

export function messageItem(row: ItemRow): Message {
  const { messageId, ...state } = messageState(row)
  return {
    messageId,
    jobId: row.jobId,
    appId: row.appId,
    tenantId: row.tenantId,
    userId: row.userId,
    direction: row.direction,
    ...state,
  }
}
