import type { ManualClock } from '../../support/manual-clock.ts'

const STEP_MS = 500

/** A manual clock and the open calls of its gateway. */
export interface Timed {
  clock: ManualClock
  /** The number of open calls to the provider. */
  openCalls: number
}

/**
 * Advances the manual clock until there is an answer. Throws after `withinMs` of this clock. The clock stands still during a
 * call to the provider, so that the speed of the machine does not matter.
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
    if (one.openCalls === 0) one.clock.advance(stepMs)
    await Bun.sleep(1)
  }
}
