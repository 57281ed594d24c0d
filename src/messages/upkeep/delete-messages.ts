import type { Gateway } from '../gateway.ts'
import { FOLLOWED_THROUGH } from './follow-conversations.ts'

export interface DeletedRows {
  messages: number
  attempts: number
  deliveries: number
}

/** Deletes the activity of conversations whose newest message is deleted. Older messages were deleted before, or are deleted now. */
const FORGET_CONVERSATIONS = `DELETE FROM conversation_activity WHERE rowid IN (SELECT activity.rowid FROM json_each(?1)
  CROSS JOIN messages ON messages.id = value
  CROSS JOIN conversation_activity AS activity ON activity.tenant_id = messages.tenant_id AND activity.last_seq = messages.seq)`

/** Moves the position back if the newest messages were deleted, because their `seq` will be reused. */
const FOLLOW_AGAIN = `UPDATE facts SET value = (SELECT coalesce(max(seq), 0) FROM messages)
  WHERE name = '${FOLLOWED_THROUGH}' AND CAST(value AS INTEGER) > (SELECT coalesce(max(seq), 0) FROM messages)`

/** A delivery id begins with the id of its message, so the index on delivery ids finds the rows of a message. */
const STATEMENTS = [
  'DELETE FROM media_uses WHERE message_id IN (SELECT value FROM json_each(?1))',
  `DELETE FROM delivery_states WHERE message_seq IN (SELECT seq FROM messages WHERE id IN (SELECT value FROM json_each(?1)))`,
  'DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?1)) RETURNING id',
  'DELETE FROM send_attempts WHERE message_id IN (SELECT value FROM json_each(?1)) RETURNING seq',
  `DELETE FROM webhook_attempts WHERE seq IN (SELECT own.seq FROM json_each(?1)
    JOIN webhook_attempts AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';') RETURNING seq`,
  'DELETE FROM webhook_details WHERE message_id IN (SELECT value FROM json_each(?1))',
  `DELETE FROM jobs WHERE seq IN (SELECT own.seq FROM json_each(?1)
    CROSS JOIN jobs AS own INDEXED BY jobs_next_attempt ON own.kind = 'webhook_retry' AND own.subject >= value || ':' AND own.subject < value || ';')`,
]

/** A commit of this many rows takes a few milliseconds. A message to many destinations may have thousands of webhook attempts. */
const DELIVERIES_AT_ONCE = 1000

/** Attempts that have ended: an open one needs its message. */
const ENDED_DELIVERIES = `SELECT own.seq FROM json_each(?1)
  CROSS JOIN webhook_attempts AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';' AND own.outcome IS NOT NULL`

/**
 * Deletes messages that have ended, with their attempts, deliveries and retries, in one commit. If there are very many
 * deliveries, earlier commits delete most of them.
 */
export async function deleteMessages(gateway: Gateway, ids: readonly string[]): Promise<DeletedRows> {
  if (ids.length === 0) return { messages: 0, attempts: 0, deliveries: 0 }
  const args = [JSON.stringify(ids)]
  const before = await deleteMostDeliveries(gateway, args)
  const [, ...results] = await gateway.database.writer.write([
    { sql: FORGET_CONVERSATIONS, args },
    ...STATEMENTS.map((sql) => ({ sql, args })),
    { sql: FOLLOW_AGAIN, args: [] },
  ])
  const [, , messages = 0, attempts = 0, deliveries = 0] = results.map((result) => result.rows.length)
  return { messages, attempts, deliveries: before + deliveries }
}

async function deleteMostDeliveries({ database }: Gateway, args: string[]): Promise<number> {
  const more = `SELECT 1 FROM (${ENDED_DELIVERIES}) LIMIT 1 OFFSET ${DELIVERIES_AT_ONCE}`
  const sql = `DELETE FROM webhook_attempts WHERE seq IN (${ENDED_DELIVERIES} LIMIT ${DELIVERIES_AT_ONCE}) RETURNING seq`
  for (let count = 0; ;) {
    if ((await database.gate.execute({ sql: more, args })).rows.length === 0) return count
    const [deleted] = await database.writer.write([{ sql, args }])
    count += deleted?.rows.length ?? 0
  }
}
