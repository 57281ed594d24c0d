import type { Clock } from '../../core/clock.ts'

/**
 * While this many requests are being answered, and for a moment afterward, accepting has priority over sending: one commit can answer all of
 * them.
 */
const BURST_REQUESTS = 16
const BURST_MS = 250
/** During a burst, at most this many calls may be young and unanswered. Older calls are not limited. */
const MAX_YOUNG_CALLS = 64
const YOUNG_MS = 250

/**
 * Slots for calls in progress. During a burst of requests only a few young calls may be in progress. This does not slow down a provider that
 * answers quickly.
 */
export class CallSlots {
  /** Call → monotonic time at which it began, oldest first. */
  readonly #young = new Map<object, number>()
  inFlight = 0
  #burstUntil = -Infinity

  constructor(
    readonly clock: Clock,
    readonly max: number,
    /** Requests that are being answered now. */
    readonly requests: () => number,
  ) {}

  /** Call it when a message is being accepted. */
  noteRequest(): void {
    if (this.requests() >= BURST_REQUESTS) this.#burstUntil = this.clock.monotonic() + BURST_MS
  }

  /** Milliseconds until another call may begin: 0 if one may begin now, Infinity if another call must end first. */
  waitMs(): number {
    if (this.inFlight >= this.max) return Infinity
    const now = this.clock.monotonic()
    if (now >= this.#burstUntil || this.#young.size < MAX_YOUNG_CALLS) return 0
    this.#forgetOld(now)
    if (this.#young.size < MAX_YOUNG_CALLS) return 0
    const [oldest = now] = this.#young.values()
    return oldest + YOUNG_MS - now
  }

  take(call: object): void {
    this.inFlight++
    this.#young.set(call, this.clock.monotonic())
  }

  /** Call it when the call has returned and its result is not stored yet. */
  callReturned(call: object): void {
    this.#young.delete(call)
  }

  free(call: object): void {
    this.inFlight--
    this.#young.delete(call)
  }

  #forgetOld(now: number): void {
    for (const [call, beganAt] of this.#young) {
      if (beganAt + YOUNG_MS > now) return
      this.#young.delete(call)
    }
  }
}
