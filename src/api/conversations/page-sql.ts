import { MAX_TO_ANSWER } from '../../core/limits.ts'
import { type ConversationsRead, endsWith } from '../../messages/upkeep/follow-conversations.ts'
import type { ConversationsQuery } from './schemas.ts'

/** Contacts that can get a text: not short codes or senders' names. */
const IS_NUMBER = `from_number GLOB '+[1-9]*' AND length(from_number) BETWEEN 10 AND 16 AND substr(from_number, 2) NOT GLOB '*[^0-9]*'`

/** The conversations that wait for an answer to a message since ?7. The index of all messages has every column, and those of a week are fewer than all conversations. */
const toAnswer = (table: string, filters: string): string => `SELECT 1 FROM messages INDEXED BY messages_by_tenant
  WHERE tenant_id = ?1 AND created_at >= ?7 AND direction = 'inbound' AND ${IS_NUMBER} ${filters}
    AND EXISTS (SELECT 1 FROM ${table} AS newest WHERE newest.tenant_id = ?1 AND newest.last_seq = messages.seq)
    AND NOT EXISTS (SELECT 1 FROM opt_outs WHERE opt_outs.contact = from_number AND opt_outs.number = to_number
      AND opt_outs.tenant_id = ?1 AND opted_out = 1)
  LIMIT ${MAX_TO_ANSWER}`

/**
 * One statement reads total, page and how many wait for an answer, so that all are of one snapshot. An empty page is one row that has only
 * the counts. `(SELECT ?2, ?3, ?6)` binds the filters that are not set.
 */
export function pageSql(query: ConversationsQuery, { table, before }: ConversationsRead): string {
  // Few have the same last digits, so copying them is faster than finding them twice.
  const copied = query.contactEndsWith === undefined ? 'NOT MATERIALIZED' : 'MATERIALIZED'
  return `WITH ${before} hits AS ${copied} (SELECT rowid AS id, last_seq FROM ${table} WHERE tenant_id = ?1 ${filtersOf(query, 'number', 'contact')}),
      page AS (SELECT id FROM hits ORDER BY last_seq DESC LIMIT ?4 OFFSET ?5)
    SELECT counted.total, (SELECT count(*) FROM (${toAnswer(table, filtersOf(query, 'to_number', 'from_number'))})) AS to_answer,
      listed.number, listed.contact, messages.id AS message_id, direction, status, error, body, created_at, updated_at, send_at, messages.attachments, conclusion, state.error_code,
      EXISTS (SELECT 1 FROM opt_outs WHERE opt_outs.contact = listed.contact AND opt_outs.number = listed.number
        AND opt_outs.tenant_id = ?1 AND opted_out = 1) AS opted_out
    FROM (SELECT count(*) AS total FROM hits) AS counted CROSS JOIN (SELECT ?2, ?3, ?6)
      LEFT JOIN ${table} AS listed ON +listed.tenant_id = ?1 AND listed.rowid IN (SELECT id FROM page)
      LEFT JOIN messages ON messages.seq = listed.last_seq AND messages.tenant_id = ?1
      LEFT JOIN delivery_states AS state ON state.message_seq = listed.last_seq AND state.tenant_id = ?1
    ORDER BY listed.last_seq DESC`
}

/** The filters that are set, of two columns. */
function filtersOf(query: ConversationsQuery, ours: string, theirs: string): string {
  const { number, contact, contactEndsWith } = query
  const set = [
    number === undefined ? '' : `AND ${ours} = ?2`,
    contact === undefined ? '' : `AND ${theirs} = ?3`,
    contactEndsWith === undefined ? '' : `AND ${endsWith(theirs, '?6')}`,
  ]
  return set.join(' ')
}
