import type { Row } from '../db/connection.ts'
import type { Gate } from '../db/gate.ts'
import type { ReadTurns } from '../db/read-turns.ts'

/** A range of half hours, `until` not included. */
export interface HalfHours {
  since: number
  until: number
}

export interface UsageReads {
  gate: Gate
  turns: ReadTurns
}

export const usageReads = ({ database, turns }: { database: { gate: Gate }; turns: ReadTurns }): UsageReads => ({
  gate: database.gate,
  turns,
})

/** Rows of the roll-up that one statement should read: some 2 ms of the event loop. */
const ROWS_PER_SLICE = 2000
/** Half hours. Behind an empty time there may be a full one. */
const MAX_LENGTH = 12

/**
 * Reads a range of a tenant's roll-up slice by slice. `sql` groups the half hours from `?2` to `?3` (not included) of tenant `?1`
 * and answers as `stored` how many rows each group has. The more rows, the fewer half hours the next slice has.
 */
export async function readSlices(
  { gate, turns }: UsageReads,
  sql: string,
  tenantId: string,
  { since, until }: HalfHours,
): Promise<Row[]> {
  const found: Row[] = []
  let length = 1
  for (let from = since; from < until;) {
    const end = Math.min(from + length, until)
    const { rows } = await gate.execute({ sql, args: [tenantId, from, end] })
    found.push(...rows)
    const stored = rows.reduce((sum, row) => sum + Number(row['stored']), 0)
    length = nextLength(end - from, stored)
    from = end
    if (from < until) await turns.next(tenantId)
  }
  return found
}

const nextLength = (length: number, stored: number): number =>
  Math.max(1, Math.min(MAX_LENGTH, Math.floor((length * ROWS_PER_SLICE) / Math.max(stored, 1))))
