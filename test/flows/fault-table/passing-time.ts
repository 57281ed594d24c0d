import type { ManualClock } from '../../support/manual-clock.ts'

const STEP_MS = 500
/** Enough ticks of the event loop for the gateway to do what is due, up to its next call to the provider. */
const TURNS = 20

/** A manual clock and the open calls of its gateway. */
export interface Timed {
  clock: ManualClock
  /** The number of open calls to the provider and of other work outside this thread. */
  openCalls: number
}

/**
 * Advances the manual clock until there is an answer. Throws after `withinMs` of this clock. The clock stands still while
 * work outside this thread is open, so that the speed of the machine does not matter.
 */
export async function pass<T>(
  one: Timed,
  withinMs: number,
  ask: () => Promise<T | null> | T | null,
  stepMs = STEP_MS,
): Promise<T> {
  const deadline = one.clock.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (one.clock.now() >= deadline) throw new Error(`Nothing came within ${withinMs} ms of the test's time`)
    if (one.openCalls > 0) await Bun.sleep(1)
    else one.clock.advance(stepMs)
    await someTurns()
  }
}

/** Waits for some ticks of the event loop, so that all possible work has begun. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
