import { WINDOW_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../gateway.ts'

// First attempts that have no row of their own are found by no index: one would cost every message. What is stored instead
// is the message up to which none counts in a rate window any more, so that a start reads only what came after it.

/** Of which message on a start must look. `seq`s are used again where the newest messages were deleted. */
export const WINDOW_BOUND = `coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'windows_after'), 0)`

/** No higher than the newest message: with every deletion of messages, and at a start (an earlier release does not know of it). */
export const LOWER_BOUND = `UPDATE facts SET value = (SELECT coalesce(max(seq), 0) FROM messages)
  WHERE name = 'windows_after' AND CAST(value AS INTEGER) > (SELECT coalesce(max(seq), 0) FROM messages)`

/** Moves the bound each time it is asked a window's length after the last time. */
export function windowBound({ database, clock, log }: Gateway): { move(): Promise<void> } {
  let seen: { at: number; seq: number } | null = null
  const store = (seq: number): Promise<unknown> =>
    database.gate.execute({
      sql: `UPDATE facts SET value = ?1 WHERE name = 'windows_after' AND CAST(value AS INTEGER) < ?1
        AND ?1 <= (SELECT coalesce(max(seq), 0) FROM messages)`,
      args: [seq],
    })
  const move = async (): Promise<void> => {
    const now = clock.monotonic()
    if (seen !== null && now - seen.at < WINDOW_MS) return
    if (seen !== null) await store(seen.seq)
    const { rows } = await database.gate.execute('SELECT coalesce(max(seq), 0) AS seq FROM messages')
    seen = { at: now, seq: Number(rows[0]?.['seq']) }
  }
  return {
    // It only spares a start time.
    move: () => move().catch((error: unknown) => log.debug({ error: errorName(error) }, 'the bound was not moved')),
  }
}
