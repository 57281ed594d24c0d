import type { ManualClock } from '../../support/manual-clock.ts'

const STEP_MS = 500

/** Whose time it is. */
export interface Timed {
  clock: ManualClock
  /** Calls of the provider that are under way. */
  openCalls: number
}

/**
 * Lets the test's time pass until there is an answer; throws when `withinMs` of it have passed. It stands still while a
 * call of the provider is under way: how fast the machine is changes nothing.
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
