import { and, eq, gt, lte, or } from 'drizzle-orm'
import { WINDOW_MS } from '../core/limits.ts'
import { messages } from '../db/schema/messages.ts'
import type { Statement } from '../db/writer.ts'
import { type DeletedRows, deleteMessages } from '../messages/upkeep/delete-messages.ts'
import { DELETE_UNUSED } from '../messages/media/media-rows.ts'
import { buryMessages } from '../messages/inbound/tombstones.ts'
import type { Gateway } from '../messages/gateway.ts'
import { isEnded } from '../messages/sending/outbound-message.ts'

/** What an erasure deleted, or would delete. */
export interface ErasedRows extends DeletedRows {
  /** Messages that have not ended, and stay. */
  waiting: number
}

/** A message of the person. */
export type Found = Pick<typeof messages.$inferSelect, 'id' | 'status' | 'direction' | 'tenantId' | 'rcMessageId'>

/** Finds a person's messages among the `rows` rows after `after`. */
export function readRange({ database }: Gateway, phone: string, after: number, rows: number): Promise<Found[]> {
  const { id, status, direction, tenantId, rcMessageId, seq, from, to } = messages
  return database.orm
    .select({ id, status, direction, tenantId, rcMessageId })
    .from(messages)
    .where(and(gt(seq, after), lte(seq, after + rows), or(eq(from, phone), eq(to, phone))))
}

/** Counts the rows that deleting these messages would delete. */
export async function countRows({ database }: Gateway, found: readonly Found[]): Promise<ErasedRows> {
  const ended = found.filter(({ status }) => isEnded(status))
  const args = [idsOf(ended)]
  const [attempts, deliveries] = await database.gate.batch([
    {
      sql: 'SELECT count(*) AS n FROM send_attempts WHERE message_id IN (SELECT value FROM json_each(?1))',
      args,
    },
    {
      sql: `SELECT count(*) AS n FROM json_each(?1)
        JOIN webhook_attempts AS own ON own.delivery_id >= value || ':' AND own.delivery_id < value || ';'`,
      args,
    },
  ])
  return {
    messages: ended.length,
    attempts: Number(attempts?.rows[0]?.['n'] ?? 0),
    deliveries: Number(deliveries?.rows[0]?.['n'] ?? 0),
    waiting: found.length - ended.length,
  }
}

/** Deletes the messages of the list that have ended. First it stores tombstones and makes recent attempts anonymous. */
export async function eraseRows(gateway: Gateway, found: readonly Found[]): Promise<ErasedRows> {
  const ended = found.filter(({ status }) => isEnded(status))
  if (ended.length === 0) return { messages: 0, attempts: 0, deliveries: 0, waiting: found.length }
  const inbound = ended.filter(({ direction }) => direction === 'inbound')
  const tombstones = buryMessages(
    gateway,
    inbound.map(({ tenantId, rcMessageId }) => ({ tenantId, providerMessageId: String(rcMessageId) })),
  )
  const [, moved] = await gateway.database.writer.write([tombstones, anonymizeAttempts(gateway, idsOf(ended))])
  const carried = await carriedBy(gateway, idsOf(ended))
  const deleted = await deleteMessages(
    gateway,
    ended.map(({ id }) => id),
  )
  await gateway.media.delete(DELETE_UNUSED, [JSON.stringify(carried)])
  const attempts = deleted.attempts + (moved?.rows.length ?? 0)
  return { ...deleted, attempts, waiting: found.length - ended.length }
}

/** The media of messages. */
async function carriedBy({ database }: Gateway, ids: string): Promise<string[]> {
  const sql = 'SELECT DISTINCT media_id FROM media_uses WHERE message_id IN (SELECT value FROM json_each(?1))'
  const { rows } = await database.gate.execute({ sql, args: [ids] })
  return rows.map((row) => String(row['media_id']))
}

const idsOf = (found: readonly Found[]): string => JSON.stringify(found.map(({ id }) => id))

/** Makes the attempts of the last two minutes anonymous instead of deleting them, because rate windows are counted from them. */
const anonymizeAttempts = ({ clock }: Gateway, ids: string): Statement => ({
  sql: `UPDATE send_attempts SET message_id = '', to_number = '', message = NULL
    WHERE message_id IN (SELECT value FROM json_each(?1)) AND started_at > ?2 AND closed_at IS NOT NULL RETURNING seq`,
  args: [ids, clock.now() - 2 * WINDOW_MS],
})
