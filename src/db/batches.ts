import { type Clock, sleep } from '../core/clock.ts'

/** A commit of this many rows takes a few milliseconds, so upkeep does not delay a send noticeably. */
export const ROWS_PER_BATCH = 50
const PAUSE_MS = 20

/**
 * Runs long upkeep in small steps with pauses between them, until the last step or a stop of the server. Each step returns how many rows
 * it deleted or changed, and whether it was the last one. Returns the number of rows.
 */
export async function inBatches(
  { clock, lifecycle }: { clock: Clock; lifecycle: { draining: boolean } },
  step: () => Promise<{ count: number; last: boolean }>,
): Promise<number> {
  for (let total = 0; ;) {
    const { count, last } = await step()
    total += count
    if (last || lifecycle.draining) return total
    await sleep(clock, PAUSE_MS)
  }
}
