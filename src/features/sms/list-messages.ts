import { type SQL, and, count, desc, eq, gte, lte } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { messages } from '../../db/schema/messages.ts'
import type { Gateway } from '../../gateway.ts'
import { type Message, messageItem } from './message.ts'
import type { MessagesQuery } from './schemas.ts'

export interface MessagePage {
  messages: Message[]
  total: number
  page: number
  limit: number
}

/** Messages of the caller's tenant, newest first. Another tenant's id as a filter finds nothing. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<MessagePage> {
  const { page, limit } = query
  const where = conditions(caller, query)
  const { reads } = gateway.database
  const [counted] = await reads.select({ total: count() }).from(messages).where(where)
  const total = counted?.total ?? 0
  const rows = await reads
    .select()
    .from(messages)
    .where(where)
    .orderBy(desc(messages.createdAt), desc(messages.seq))
    .limit(limit)
    .offset((page - 1) * limit)
  return { messages: rows.map(messageItem), total, page, limit }
}

function conditions(caller: Caller, query: MessagesQuery): SQL | undefined {
  const equal = [
    [messages.tenantId, query.tenantId],
    [messages.appId, query.appId],
    [messages.userId, query.userId],
    [messages.direction, query.direction],
    [messages.status, query.status],
    [messages.from, query.from],
    [messages.to, query.to],
  ] as const
  return and(
    eq(messages.tenantId, caller.tenantId),
    ...equal.map(([column, value]) => (value === undefined ? undefined : eq(column, value))),
    query.startDate === undefined ? undefined : gte(messages.createdAt, query.startDate),
    query.endDate === undefined ? undefined : lte(messages.createdAt, query.endDate),
  )
}
