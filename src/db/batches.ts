import { type Clock, sleep } from '../core/clock.ts'

/** A commit of this many rows takes some milliseconds, so upkeep does not delay a send noticeably. */
export const ROWS_PER_BATCH = 50
const PAUSE_MS = 20

export interface BatchContext {
  clock: Clock
  lifecycle: { draining: boolean }
}

export interface Batch {
  /** How many rows the step deleted or changed. */
  count: number
  /** Whether this was the last step. */
  last: boolean
}

/** Runs long upkeep in small steps with pauses between them, until the last step or a stop of the server. Returns the number of rows. */
export async function inBatches({ clock, lifecycle }: BatchContext, step: () => Promise<Batch>): Promise<number> {
  for (let total = 0; ;) {
    const { count, last } = await step()
    total += count
    if (last || lifecycle.draining) return total
    await sleep(clock, PAUSE_MS)
  }
}
