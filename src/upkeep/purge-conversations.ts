import { HOUR_MS } from '../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import type { Gateway } from '../gateway.ts'

/** No index leads to the old ones, which would cost every message to a new contact: so many rows are read at a time. */
const ROWS_PER_LOOK = 2000
/** How far the trigger `conversations_follow` lets the time of a row be behind its newest message; never less. */
const BEHIND_MS = HOUR_MS

/** Whom the answers of a contact belong to is known as long as the newest message to it is kept, or an hour longer. */
export async function purgeConversations(gateway: Gateway, messagesBefore: number): Promise<void> {
  const { gate, writer } = gateway.database
  const [newest] = (await gate.execute('SELECT max(seq) AS seq FROM conversations')).rows
  const before = messagesBefore - BEHIND_MS
  let cursor = 0
  await inBatches(gateway, async () => {
    const { rows } = await gate.execute({
      sql: 'SELECT seq FROM conversations WHERE seq > ?1 AND seq <= ?2 AND written_at < ?3 ORDER BY seq LIMIT ?4',
      args: [cursor, cursor + ROWS_PER_LOOK, before, ROWS_PER_BATCH],
    })
    const seqs = rows.map((row) => Number(row['seq']))
    // One that was written again meanwhile stays.
    const sql = 'DELETE FROM conversations WHERE seq IN (SELECT value FROM json_each(?1)) AND written_at < ?2'
    if (seqs.length > 0) await writer.write([{ sql, args: [JSON.stringify(seqs), before] }])
    cursor = seqs.length === ROWS_PER_BATCH ? (seqs.at(-1) ?? 0) : cursor + ROWS_PER_LOOK
    return { count: seqs.length, last: cursor >= Number(newest?.['seq'] ?? 0) }
  })
}
