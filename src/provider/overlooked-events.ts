import type { Clock } from '../core/clock.ts'

/** A message that a back-fill finds sooner than this may have arrived before the socket was open. */
const OVERLOOKED_AFTER_MS = 10 * 60_000
/** The provider may send no events for some messages, such as a call queue's. */
const OVERLOOKED_EVERY_MS = 60 * 60_000

/** Decides whether a message without an event shows that its socket is dead. */
export class OverlookedEvents {
  readonly #noted = new Map<string, number>()

  constructor(readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Call it for each such message; `ageMs`: the age of the open socket, 0 if none is open. */
  isTelling(name: string, ageMs: number): boolean {
    const now = this.clock.monotonic()
    const sinceMs = now - (this.#noted.get(name) ?? -Infinity)
    if (ageMs < OVERLOOKED_AFTER_MS || sinceMs < OVERLOOKED_EVERY_MS) return false
    this.#noted.set(name, now)
    return true
  }
}
