import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { TO_ANSWER_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { attachmentsOf } from '../../messages/media/attachments.ts'
import { reasonOf } from '../../messages/receipts/delivery-codes.ts'
import { shownWaiting } from '../../messages/sending/waiting.ts'
import { conversationsRead } from '../../messages/upkeep/follow-conversations.ts'
import { pageSql } from './page-sql.ts'
import type { Conversation, ConversationList, ConversationsQuery } from './schemas.ts'

/** The tenant's conversations, the one with the newest message first, and how many of them wait for an answer. */
export async function listConversations(
  gateway: Gateway,
  { tenantId }: Caller,
  query: ConversationsQuery,
): Promise<ConversationList> {
  const sql = pageSql(query, await conversationsRead(gateway))
  const { number = null, contact = null, contactEndsWith = null, page, limit } = query
  const answerSince = gateway.clock.now() - TO_ANSWER_MS
  const args = [tenantId, number, contact, limit, (page - 1) * limit, contactEndsWith, answerSince]
  const rows = await gateway.database.reader.longRead(tenantId, sql, args)
  const listed = rows.filter((row) => row['message_id'] !== null)
  const conversations = listed.map(async (row) => {
    if (query.include !== 'delivery') return conversationOf(row, {})
    const outcome = row['direction'] === 'outbound' ? await outcomeOf(gateway, tenantId, row) : {}
    const attachments = attachmentsOf(row['attachments']).length
    return conversationOf(row, attachments === 0 ? outcome : { ...outcome, attachments })
  })
  const [{ total = 0, to_answer: toAnswer = 0 } = {}] = rows
  return {
    conversations: await Promise.all(conversations),
    toAnswer: Number(toAnswer),
    total: Number(total),
    page,
    limit,
  }
}

const conversationOf = (row: Row, outcome: Outcome): Conversation => ({
  number: String(row['number']),
  contact: String(row['contact']),
  lastMessage: {
    messageId: String(row['message_id']),
    direction: row['direction'] as Conversation['lastMessage']['direction'],
    status: row['status'] as Conversation['lastMessage']['status'],
    body: String(row['body']),
    createdAt: isoTime(Number(row['created_at'])),
    ...outcome,
  },
  optedOut: row['opted_out'] === 1,
})

type Outcome = Pick<
  Conversation['lastMessage'],
  'error' | 'deliveryStatus' | 'deliveryError' | 'waiting' | 'attachments'
>

/** What happened to an outbound message, or why it has not been sent yet. */
async function outcomeOf({ receipts, sending }: Gateway, tenantId: string, row: Row): Promise<Outcome> {
  const { status, error, conclusion, number: from, contact: to, send_at: sendAt } = row
  return {
    error: error === null ? null : String(error),
    deliveryStatus:
      status !== 'sent'
        ? null
        : (DELIVERY_CONCLUSIONS.find((each) => each === conclusion) ??
          (receipts.isPending(Number(row['updated_at'])) ? 'pending' : 'unknown')),
    ...(status === 'sent' && conclusion === 'undelivered' ? { deliveryError: deliveryErrorOf(row['error_code']) } : {}),
    waiting: await shownWaiting(sending, status, {
      id: String(row['message_id']),
      tenantId,
      from: String(from),
      to: String(to),
      sendAt: sendAt === null ? null : Number(sendAt),
    }),
  }
}

function deliveryErrorOf(errorCode: unknown): Outcome['deliveryError'] {
  const code = errorCode === null ? null : String(errorCode)
  return { code, reason: reasonOf(code) }
}
