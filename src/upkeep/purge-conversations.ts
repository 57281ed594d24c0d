import { HOUR_MS } from '../core/limits.ts'
import { ROWS_PER_BATCH, inBatches } from '../db/batches.ts'
import type { Gateway } from '../gateway.ts'

/** Rows read at a time. There is no index by age, because it would cost every message to a new contact. */
const ROWS_PER_RANGE = 2000
/** How far the trigger `conversations_follow` lets the time of a row fall behind its newest message. */
const BEHIND_MS = HOUR_MS

/** Deletes conversations whose newest message is past its retention, at most an hour later than the message. */
export async function purgeConversations(gateway: Gateway, messagesBefore: number): Promise<void> {
  const { gate, writer } = gateway.database
  const [newest] = (await gate.execute('SELECT max(seq) AS seq FROM conversations')).rows
  const before = messagesBefore - BEHIND_MS
  let cursor = 0
  await inBatches(gateway, async () => {
    const { rows } = await gate.execute({
      sql: 'SELECT seq FROM conversations WHERE seq > ?1 AND seq <= ?2 AND written_at < ?3 ORDER BY seq LIMIT ?4',
      args: [cursor, cursor + ROWS_PER_RANGE, before, ROWS_PER_BATCH],
    })
    const seqs = rows.map((row) => Number(row['seq']))
    // A row that was written again meanwhile stays.
    const sql = 'DELETE FROM conversations WHERE seq IN (SELECT value FROM json_each(?1)) AND written_at < ?2'
    if (seqs.length > 0) await writer.write([{ sql, args: [JSON.stringify(seqs), before] }])
    cursor = seqs.length === ROWS_PER_BATCH ? (seqs.at(-1) ?? 0) : cursor + ROWS_PER_RANGE
    return { count: seqs.length, last: cursor >= Number(newest?.['seq'] ?? 0) }
  })
}
