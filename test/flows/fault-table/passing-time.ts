import type { ManualClock } from '../../support/manual-clock.ts'

const STEP_MS = 500
/** Turns of the event loop, in which the gateway does what is due, up to its next call of the provider. */
const TURNS = 20

/** Whose time it is. */
export interface Timed {
  clock: ManualClock
  /** Work of others than this thread that is under way, for example calls of the provider. */
  openCalls: number
}

/**
 * Lets the test's time pass until there is an answer; throws when `withinMs` of it have passed. It stands still while
 * others work for the gateway, for example the provider: how fast the machine is changes nothing.
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

/** Lets the event loop take some turns, however long they are: work that could begin has begun by then. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
