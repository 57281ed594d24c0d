import type { Row } from '../db/connection.ts'
import type { Gate } from '../db/gate.ts'
import type { ReadTurns } from '../db/read-turns.ts'

/** A range of half hours: since ≤ half hour < end. */
export interface HalfHours {
  since: number
  end: number
}

/** The parts of the gateway that read the roll-up. */
export interface UsageReads {
  database: { gate: Gate }
  turns: ReadTurns
}

/** Rows of the roll-up that one statement should read: some 2 ms of the event loop. */
const ROWS_PER_SLICE = 2000
/** Six hours: a busy time may follow a quiet one. */
const MAX_HALF_HOURS_PER_SLICE = 12

/**
 * Reads a range of a tenant's roll-up slice by slice. `sql` groups the half hours from `?2` to `?3` (not included) of tenant `?1`
 * and returns the number of rows in each group as `stored`. The more rows, the fewer half hours the next slice has.
 */
export async function readSlices(reads: UsageReads, sql: string, tenantId: string, range: HalfHours): Promise<Row[]> {
  const found: Row[] = []
  await eachSlice(reads, sql, tenantId, range, (rows) => void found.push(...rows))
  return found
}

/** Reads as `readSlices` does, and passes on the rows of each slice, so that they are not all processed in one tick of the event loop. */
export async function eachSlice(
  { database, turns }: UsageReads,
  sql: string,
  tenantId: string,
  { since, end }: HalfHours,
  take: (rows: readonly Row[]) => void,
): Promise<void> {
  let length = 1
  for (let from = since; from < end;) {
    // The first slice waits as well: of many requests at once, one is read in a tick of the event loop.
    await turns.next(tenantId)
    const before = Math.min(from + length, end)
    const { rows } = await database.gate.execute({ sql, args: [tenantId, from, before] })
    take(rows)
    const stored = rows.reduce((sum, row) => sum + Number(row['stored']), 0)
    length = nextLength(before - from, stored)
    from = before
  }
}

const nextLength = (length: number, stored: number): number =>
  Math.max(1, Math.min(MAX_HALF_HOURS_PER_SLICE, Math.floor((length * ROWS_PER_SLICE) / Math.max(stored, 1))))
