import type { Gateway } from '../../gateway.ts'
import { LOWER_BOUND } from './window-bound.ts'

export interface DeletedRows {
  messages: number
  /** Those that stood in their message's row are counted too. */
  attempts: number
  deliveries: number
}

/** The key of a delivery begins with its message's id, so their index finds them. */
const STATEMENTS = [
  'DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?1)) RETURNING first_attempt_extension_id',
  'DELETE FROM send_attempts WHERE message_id IN (SELECT value FROM json_each(?1)) RETURNING id',
  `DELETE FROM deliveries WHERE seq IN (SELECT own.seq FROM json_each(?1)
    JOIN deliveries AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';') RETURNING seq`,
]

/** Deletes messages that have come to their end, with their attempts and deliveries, in one commit. */
export async function deleteMessages(gateway: Gateway, ids: readonly string[]): Promise<DeletedRows> {
  if (ids.length === 0) return { messages: 0, attempts: 0, deliveries: 0 }
  const list = JSON.stringify(ids)
  const statements = STATEMENTS.map((sql) => ({ sql, args: [list] }))
  const results = await gateway.database.writer.write([...statements, { sql: LOWER_BOUND, args: [] }])
  const [messages = 0, attempts = 0, deliveries = 0] = results.map((result) => result.rows.length)
  const inMessages = results[0]?.rows.filter((row) => row['first_attempt_extension_id'] !== null).length ?? 0
  return { messages, attempts: attempts + inMessages, deliveries }
}

/** Whether nothing more happens to a message: its rows may go. */
export const isEnded = (status: unknown): boolean => status === 'sent' || status === 'failed' || status === 'received'
