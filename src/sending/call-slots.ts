import type { Clock } from '../core/clock.ts'

/** With 16 requests at once accepting comes first, and for 250 ms after: one commit answers all of them together. */
const HIGH_LOAD_REQUESTS = 16
const HIGH_LOAD_MS = 250
/** Under high load, at most so many calls may be young and unanswered. Older calls are not limited. */
const MAX_YOUNG_CALLS = 64
const YOUNG_MS = 250

/**
 * Slots for calls under way. Under high load accepting comes before sending, so only a few young calls may be under way. A
 * provider that answers quickly is not slowed down by this.
 */
export class CallSlots {
  /** Call → monotonic time at which it began, oldest first. */
  readonly #young = new Map<object, number>()
  inFlight = 0
  #highLoadUntil = -Infinity

  constructor(
    readonly clock: Clock,
    readonly max: number,
    /** Requests that are being answered at this moment. */
    readonly requests: () => number,
  ) {}

  /** Call it when a message is being accepted. */
  noteRequest(): void {
    if (this.requests() >= HIGH_LOAD_REQUESTS) this.#highLoadUntil = this.clock.monotonic() + HIGH_LOAD_MS
  }

  /** Milliseconds until another call may begin: 0 if one may begin now, Infinity if another call must end first. */
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

  /** Call it when the provider has answered and the outcome is not stored yet. */
  answered(call: object): void {
    this.#young.delete(call)
  }

  leave(call: object): void {
    this.inFlight--
    this.#young.delete(call)
  }
}
