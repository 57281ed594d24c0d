import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'
import { isStorageFault } from '../../db/gate.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { CURRENT_ACTIVITY, followConversations } from '../../messages/upkeep/follow-conversations.ts'
import type { Conversation, ConversationList, ConversationsQuery } from './schemas.ts'

/** The tenant's conversations, the one with the newest message first. */
export async function listConversations(
  gateway: Gateway,
  { tenantId }: Caller,
  query: ConversationsQuery,
): Promise<ConversationList> {
  const isFollowed = await triesToFollow(gateway)
  const { number = null, contact = null, page, limit } = query
  const args = [tenantId, number, contact, limit, (page - 1) * limit]
  const rows = await gateway.database.reader.longRead(tenantId, pageSql(query, isFollowed), args)
  const withDelivery = query.include === 'delivery'
  const conversations = rows
    .filter((row) => row['message_id'] !== null)
    .map((row) => conversationOf(row, withDelivery && row['direction'] === 'outbound' ? outcomeOf(gateway, row) : {}))
  return { conversations, total: Number(rows[0]?.['total'] ?? 0), page, limit }
}

/** Brings the conversations up to date. Returns false if the disk is full: a list is read all the same. */
async function triesToFollow(gateway: Gateway): Promise<boolean> {
  try {
    await followConversations(gateway)
    return true
  } catch (error) {
    if (isStorageFault(error)) return false
    throw error
  }
}

/**
 * One statement reads total and page, so that both are of one snapshot. An empty page is one row that has only the total. `(SELECT ?2, ?3)`
 * binds the filters that are not set.
 */
function pageSql({ number, contact }: ConversationsQuery, isFollowed: boolean): string {
  const [activity, current] = isFollowed
    ? ['conversation_activity', '']
    : ['activity', `activity AS MATERIALIZED (${CURRENT_ACTIVITY}),`]
  const filters = [number === undefined ? '' : 'AND number = ?2', contact === undefined ? '' : 'AND contact = ?3']
  return `WITH ${current} hits AS NOT MATERIALIZED (SELECT rowid AS id, last_seq FROM ${activity} WHERE tenant_id = ?1 ${filters.join(' ')}),
      page AS (SELECT id FROM hits ORDER BY last_seq DESC LIMIT ?4 OFFSET ?5)
    SELECT counted.total, listed.number, listed.contact, messages.id AS message_id, direction, status, error, body, created_at, updated_at, conclusion,
      EXISTS (SELECT 1 FROM opt_outs WHERE opt_outs.contact = listed.contact AND opt_outs.number = listed.number
        AND opt_outs.tenant_id = ?1 AND opted_out = 1) AS opted_out
    FROM (SELECT count(*) AS total FROM hits) AS counted CROSS JOIN (SELECT ?2, ?3)
      LEFT JOIN ${activity} AS listed ON +listed.tenant_id = ?1 AND listed.rowid IN (SELECT id FROM page)
      LEFT JOIN messages ON messages.seq = listed.last_seq AND messages.tenant_id = ?1
      LEFT JOIN delivery_states AS state ON state.message_seq = listed.last_seq AND state.tenant_id = ?1
    ORDER BY listed.last_seq DESC`
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

type Outcome = Pick<Conversation['lastMessage'], 'error' | 'deliveryStatus'>

/** What became of an outbound message. */
const outcomeOf = ({ receipts }: Gateway, row: Row): Outcome => ({
  error: row['error'] === null ? null : String(row['error']),
  deliveryStatus:
    row['status'] !== 'sent'
      ? null
      : (DELIVERY_CONCLUSIONS.find((conclusion) => conclusion === row['conclusion']) ??
        (receipts.isPending(Number(row['updated_at'])) ? 'pending' : 'unknown')),
})
