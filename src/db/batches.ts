import type { Clock } from '../core/clock.ts'

/** So few rows that a commit of theirs takes some milliseconds: nobody who sends at that moment notices. */
export const ROWS_PER_BATCH = 50
const PAUSE_MS = 20

export interface BatchContext {
  clock: Clock
  lifecycle: { draining: boolean }
}

export interface Batch {
  /** Rows that went. */
  count: number
  /** Nothing is left to do. */
  last: boolean
}

/** Long upkeep in small steps with pauses between them; a stop of the server ends it early. Answers how many rows went. */
export async function inBatches({ clock, lifecycle }: BatchContext, step: () => Promise<Batch>): Promise<number> {
  for (let total = 0; ;) {
    const { count, last } = await step()
    total += count
    if (last || lifecycle.draining) return total
    await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
  }
}
