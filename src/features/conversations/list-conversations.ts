import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../gateway.ts'
import { followConversations } from '../../upkeep/follow-conversations.ts'
import type { Conversation, ConversationList, ConversationsQuery } from './schemas.ts'

/** The tenant's conversations, the one with the newest message first. */
export async function listConversations(
  gateway: Gateway,
  { tenantId }: Caller,
  { number, contact, page, limit }: ConversationsQuery,
): Promise<ConversationList> {
  await followConversations(gateway)
  const offset = (page - 1) * limit
  const start = contact === undefined ? await skip(gateway, tenantId, number, offset) : NOTHING_SKIPPED
  const { rows } = await gateway.database.gate.execute({
    sql: pageSql(number !== undefined, contact !== undefined),
    args: [tenantId, number ?? null, contact ?? null, limit, offset - start.skipped, start.before],
  })
  const conversations = rows.filter((row) => row['message_id'] !== null).map(conversationOf)
  return { conversations, total: Number(rows[0]?.['total'] ?? 0), page, limit }
}

/** Conversations that are skipped in one tick of the event loop: less than a millisecond. */
const ROWS_PER_STEP = 5000
const NOTHING_SKIPPED = { before: Number.MAX_SAFE_INTEGER, skipped: 0 }

/** Skips most conversations before a late page, because one statement for all of them would hold the event loop. */
async function skip(gateway: Gateway, tenantId: string, number: string | undefined, offset: number) {
  let { before, skipped } = NOTHING_SKIPPED
  const sql = `SELECT last_seq FROM conversation_activity WHERE tenant_id = ?1 ${number === undefined ? '' : 'AND number = ?2'}
    AND last_seq < ?3 ORDER BY last_seq DESC LIMIT 1 OFFSET ${ROWS_PER_STEP - 1}`
  while (offset - skipped > ROWS_PER_STEP) {
    const { rows } = await gateway.database.gate.execute({ sql, args: [tenantId, number ?? null, before] })
    const [last] = rows
    if (last === undefined) break
    before = Number(last['last_seq'])
    skipped += ROWS_PER_STEP
    await gateway.turns.next(tenantId)
  }
  return { before, skipped }
}

/**
 * One statement reads total and page, so that both are of one snapshot. Earlier pages are skipped in an index. The one row of
 * `(SELECT ?2, ?3)` carries the total of an empty page, and binds the filters that are not set. `?6`: the page is
 * behind this `last_seq`.
 */
function pageSql(hasNumber: boolean, hasContact: boolean): string {
  const ofNumber = hasNumber ? 'AND number = ?2' : ''
  const ofContact = hasContact ? 'AND contact = ?3' : ''
  const total = hasContact
    ? `SELECT count(*) FROM conversation_activity WHERE tenant_id = ?1 ${ofNumber} ${ofContact}`
    : `SELECT coalesce(sum(count), 0) FROM conversation_counts WHERE tenant_id = ?1 ${ofNumber}`
  // The unary plus keeps SQLite from reading all conversations in their order.
  const order = hasContact ? '+last_seq DESC' : 'last_seq DESC'
  const listed = `SELECT rowid FROM conversation_activity
    WHERE tenant_id = ?1 ${ofNumber} ${ofContact} AND last_seq < ?6 ORDER BY ${order} LIMIT ?4 OFFSET ?5`
  return `SELECT (${total}) AS total, listed.number, listed.contact, messages.id AS message_id, direction, status, body, created_at,
      EXISTS (SELECT 1 FROM opt_outs WHERE opt_outs.contact = listed.contact AND opt_outs.number = listed.number
        AND opt_outs.tenant_id = ?1 AND opted_out = 1) AS opted_out
    FROM (SELECT ?2, ?3) LEFT JOIN conversation_activity AS listed ON +listed.tenant_id = ?1 AND listed.rowid IN (${listed})
    LEFT JOIN messages ON messages.seq = listed.last_seq AND messages.tenant_id = ?1
    ORDER BY listed.last_seq DESC`
}

const conversationOf = (row: Row): Conversation => ({
  number: String(row['number']),
  contact: String(row['contact']),
  lastMessage: {
    messageId: String(row['message_id']),
    direction: row['direction'] as Conversation['lastMessage']['direction'],
    status: row['status'] as Conversation['lastMessage']['status'],
    body: String(row['body']),
    createdAt: isoTime(Number(row['created_at'])),
  },
  optedOut: row['opted_out'] === 1,
})
