import type { Clock } from '../core/clock.ts'

/** What a back-fill finds sooner may have come before the socket was open. */
const OVERLOOKED_AFTER_MS = 10 * 60_000
/** There may be messages of which the provider sends no event, such as those of a call queue. */
const OVERLOOKED_EVERY_MS = 60 * 60_000

/** Decides whether a message of which no event has come says that its socket is dead. */
export class OverlookedEvents {
  readonly #noted = new Map<string, number>()

  constructor(readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Call it for each such message; `ageMs`: of the socket that is open, 0 if none is. */
  isTelling(name: string, ageMs: number): boolean {
    const now = this.clock.monotonic()
    const sinceMs = now - (this.#noted.get(name) ?? -Infinity)
    if (ageMs < OVERLOOKED_AFTER_MS || sinceMs < OVERLOOKED_EVERY_MS) return false
    this.#noted.set(name, now)
    return true
  }
}
