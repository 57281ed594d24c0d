import type { Gate } from '../../db/gate.ts'
import type { Entries } from './entries.ts'
import type { NumberQueue } from './number-queue.ts'
import { READ_AHEAD, newEntry } from './number-queue.ts'
import { IS_QUARANTINED } from './quarantine.ts'

const WAITING = `SELECT seq AS job_seq, subject AS message_id, contact AS to_number, ${IS_QUARANTINED} AS is_quarantined FROM jobs
  WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4`

/** Reads the next entries of a queue. A message that is accepted during the read sets `hasMore` again. */
export async function readQueue(gate: Gate, entries: Entries, queue: NumberQueue): Promise<void> {
  queue.hasMore = false
  const { rows } = await gate.execute({ sql: WAITING, args: [queue.number, queue.tenantId, queue.cursor, READ_AHEAD] })
  for (const row of rows) {
    const messageId = String(row['message_id'])
    const jobSeq = Number(row['job_seq'])
    queue.cursor = Math.max(queue.cursor, jobSeq)
    // An entry that is in memory already has an open attempt.
    if (entries.get(messageId) !== undefined) continue
    const entry = newEntry(queue, messageId, String(row['to_number']), jobSeq, row['is_quarantined'] === 1)
    entries.add(entry)
    queue.insert(entry)
  }
  if (rows.length === READ_AHEAD) queue.hasMore = true
}
