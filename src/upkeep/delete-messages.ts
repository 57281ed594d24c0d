import type { Gateway } from '../gateway.ts'

export interface DeletedRows {
  messages: number
  attempts: number
  deliveries: number
}

/** A delivery id begins with the id of its message, so the index on delivery ids finds the rows of a message. */
const STATEMENTS = [
  `DELETE FROM delivery_states WHERE message_seq IN (SELECT seq FROM messages WHERE id IN (SELECT value FROM json_each(?1)))`,
  'DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?1)) RETURNING id',
  'DELETE FROM send_attempts WHERE message_id IN (SELECT value FROM json_each(?1)) RETURNING seq',
  `DELETE FROM deliveries WHERE seq IN (SELECT own.seq FROM json_each(?1)
    JOIN deliveries AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';') RETURNING seq`,
  'DELETE FROM webhook_details WHERE message_id IN (SELECT value FROM json_each(?1))',
  `DELETE FROM jobs WHERE seq IN (SELECT own.seq FROM json_each(?1)
    CROSS JOIN jobs AS own INDEXED BY jobs_next_attempt ON own.kind = 'webhook_retry' AND own.subject >= value || ':' AND own.subject < value || ';')`,
]

/** Deletes messages that have ended, with their attempts, deliveries and retries, in one commit. */
export async function deleteMessages(gateway: Gateway, ids: readonly string[]): Promise<DeletedRows> {
  if (ids.length === 0) return { messages: 0, attempts: 0, deliveries: 0 }
  const args = [JSON.stringify(ids)]
  const results = await gateway.database.writer.write(STATEMENTS.map((sql) => ({ sql, args })))
  const [, messages = 0, attempts = 0, deliveries = 0] = results.map((result) => result.rows.length)
  return { messages, attempts, deliveries }
}
