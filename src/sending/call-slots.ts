import type { Clock } from '../core/clock.ts'

/** As many requests at once are high load, and for a moment after: a commit answers all of them together. */
const HIGH_LOAD_REQUESTS = 16
const HIGH_LOAD_MS = 250
/** In high load so many calls at once may be young and unanswered; others hold up nobody. */
const MAX_YOUNG_CALLS = 64
const YOUNG_MS = 250

/**
 * Slots for calls under way. In high load accepting comes before sending: then only a few young calls may be under way, which a
 * provider that answers at once never notices.
 */
export class CallSlots {
  /** When each began, oldest first, monotonic time. */
  readonly #young = new Map<object, number>()
  inFlight = 0
  #highLoadUntil = -Infinity

  constructor(
    readonly clock: Clock,
    readonly max: number,
    /** Requests that are being answered at this moment. */
    readonly requests: () => number,
  ) {}

  /** A message is being accepted. */
  noteRequest(): void {
    if (this.requests() >= HIGH_LOAD_REQUESTS) this.#highLoadUntil = this.clock.monotonic() + HIGH_LOAD_MS
  }

  /** How long until another call may begin, milliseconds: 0 when one may, Infinity when the end of one tells. */
  waitMs(): number {
    if (this.inFlight >= this.max) return Infinity
    const now = this.clock.monotonic()
    if (now >= this.#highLoadUntil || this.#young.size < MAX_YOUNG_CALLS) return 0
    for (const [call, beganAt] of this.#young) {
      if (this.#young.size < MAX_YOUNG_CALLS) return 0
      if (beganAt + YOUNG_MS > now) return beganAt + YOUNG_MS - now
      this.#young.delete(call)
    }
    return 0
  }

  enter(call: object): void {
    this.inFlight++
    this.#young.set(call, this.clock.monotonic())
  }

  /** The provider has answered; the outcome is still to be stored. */
  answered(call: object): void {
    this.#young.delete(call)
  }

  leave(call: object): void {
    this.inFlight--
    this.#young.delete(call)
  }
}
