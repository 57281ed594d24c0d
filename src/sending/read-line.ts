import type { Gate } from '../db/gate.ts'
import type { Entries } from './entries.ts'
import type { Line } from './line.ts'
import { READ_AHEAD, newEntry } from './line.ts'

const WAITING = `SELECT seq, subject, contact, is_quarantined FROM jobs
  WHERE kind = 'send' AND lane = ?1 AND tenant_id = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4`

/** Reads the next entries of a line. A message that is accepted meanwhile sets `hasMore` again. */
export async function readLine(gate: Gate, entries: Entries, line: Line): Promise<void> {
  line.hasMore = false
  const { rows } = await gate.execute({ sql: WAITING, args: [line.number, line.tenantId, line.cursor, READ_AHEAD] })
  for (const row of rows) {
    const messageId = String(row['subject'])
    const jobSeq = Number(row['seq'])
    line.cursor = Math.max(line.cursor, jobSeq)
    // An entry that is in memory already has an open attempt.
    if (entries.has(messageId)) continue
    const entry = newEntry(line, messageId, String(row['contact']), jobSeq, row['is_quarantined'] === 1)
    entries.add(entry)
    line.insert(entry)
  }
  if (rows.length === READ_AHEAD) line.hasMore = true
}
