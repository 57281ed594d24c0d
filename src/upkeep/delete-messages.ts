import type { Gateway } from '../gateway.ts'
import { FOLLOWED_THROUGH } from './follow-conversations.ts'

export interface DeletedRows {
  messages: number
  attempts: number
  deliveries: number
}

/** A message that goes with its conversation is the newest one: older ones have gone before, or go with it. */
const FORGET_CONVERSATIONS = `DELETE FROM conversation_activity WHERE rowid IN (SELECT activity.rowid FROM json_each(?1)
  CROSS JOIN messages ON messages.id = value
  CROSS JOIN conversation_activity AS activity ON activity.tenant_id = messages.tenant_id AND activity.last_seq = messages.seq)`

/** The numbers of the newest messages are used again after these are deleted. */
const FOLLOW_AGAIN = `UPDATE facts SET value = (SELECT coalesce(max(seq), 0) FROM messages)
  WHERE name = '${FOLLOWED_THROUGH}' AND CAST(value AS INTEGER) > (SELECT coalesce(max(seq), 0) FROM messages)`

/** The key of a delivery begins with its message's id, so their index finds them. */
const STATEMENTS = [
  'DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?1)) RETURNING id',
  'DELETE FROM send_attempts WHERE message_id IN (SELECT value FROM json_each(?1)) RETURNING seq',
  `DELETE FROM deliveries WHERE seq IN (SELECT own.seq FROM json_each(?1)
    JOIN deliveries AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';') RETURNING seq`,
  'DELETE FROM webhook_details WHERE message_id IN (SELECT value FROM json_each(?1))',
  `DELETE FROM jobs WHERE seq IN (SELECT own.seq FROM json_each(?1)
    CROSS JOIN jobs AS own INDEXED BY jobs_next_attempt ON own.kind = 'webhook_retry' AND own.subject >= value || ':' AND own.subject < value || ';')`,
]

/** Deletes messages that have come to their end, with their attempts, deliveries and retries, in one commit. */
export async function deleteMessages(gateway: Gateway, ids: readonly string[]): Promise<DeletedRows> {
  if (ids.length === 0) return { messages: 0, attempts: 0, deliveries: 0 }
  const args = [JSON.stringify(ids)]
  const [, ...results] = await gateway.database.writer.write([
    { sql: FORGET_CONVERSATIONS, args },
    ...STATEMENTS.map((sql) => ({ sql, args })),
    { sql: FOLLOW_AGAIN, args: [] },
  ])
  const [messages = 0, attempts = 0, deliveries = 0] = results.map((result) => result.rows.length)
  return { messages, attempts, deliveries }
}
