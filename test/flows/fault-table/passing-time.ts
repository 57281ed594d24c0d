import type { ManualClock } from '../../support/manual-clock.ts'

const STEP_MS = 100

/** Lets the test's time pass until there is an answer; throws when `withinMs` of it have passed. */
export async function pass<T>(
  clock: ManualClock,
  withinMs: number,
  ask: () => Promise<T | null> | T | null,
  stepMs = STEP_MS,
): Promise<T> {
  const deadline = clock.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (clock.now() >= deadline) throw new Error(`Nothing came within ${withinMs} ms of the test's time`)
    clock.advance(stepMs)
    await Bun.sleep(1)
  }
}
