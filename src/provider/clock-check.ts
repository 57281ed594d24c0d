import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Provider } from './provider.ts'

/** A clock that differs by more from the provider's counts as wrong. */
export const MAX_CLOCK_ERROR_MS = 5 * 60_000
/** How long the clock stays unconfirmed if the provider does not answer. */
const MAX_UNCONFIRMED_MS = 10 * 60_000

interface ClockFault {
  what: string
  fix: string
}

/**
 * Whether this machine's clock can be trusted, by the `Date` of the provider's answers. A machine may start with a clock that is days
 * off. Until its clock is trusted, no message expires, no scheduled message is released before its time by the provider's clock, and
 * nothing is purged.
 */
export class ClockCheck {
  readonly #startedAt: number

  constructor(
    readonly clock: Clock,
    readonly provider: Pick<Provider, 'clockSkewMs' | 'hasAnswered'>,
  ) {
    this.#startedAt = clock.monotonic()
  }

  /** How far the wall clock is ahead of the provider's; null if unknown. */
  get aheadMs(): number | null {
    const providerNow = this.#providerNow
    return providerNow === null ? null : this.clock.now() - providerNow
  }

  /** Whether the provider's clock has shown that this machine's is wrong. */
  get isWrong(): boolean {
    const skewMs = this.provider.clockSkewMs() ?? 0
    // A steady clock that is behind, as after sleep, makes nothing happen too early.
    return Math.abs(this.aheadMs ?? 0) > MAX_CLOCK_ERROR_MS || skewMs > MAX_CLOCK_ERROR_MS
  }

  /** What is wrong, without a period, and what to do; null if nothing is wrong. */
  describe(): ClockFault | null {
    if (!this.isWrong) return null
    const aheadMs = this.aheadMs ?? 0
    const seconds = Math.round(Math.abs(aheadMs) / 1000)
    const held = 'so no message expires and nothing is purged'
    if (Math.abs(aheadMs) <= MAX_CLOCK_ERROR_MS)
      return { what: `This machine's clock was wrong when the gateway started, ${held}`, fix: 'Restart the gateway.' }
    const direction = aheadMs < 0 ? 'behind' : 'ahead of'
    return {
      what: `This machine's clock is ${seconds} s ${direction} the provider's, ${held}`,
      fix: 'Set the clock with NTP, and restart the gateway.',
    }
  }

  get isTrusted(): boolean {
    if (this.isWrong) return false
    return this.provider.hasAnswered() || this.clock.monotonic() - this.#startedAt >= MAX_UNCONFIRMED_MS
  }

  /** The time up to which scheduled messages are due, epoch milliseconds: by the slower clock, or 0 while nothing is known. */
  get dueUntil(): number {
    const now = this.clock.now()
    if (this.isTrusted) return now
    return Math.min(now, this.#providerNow ?? 0)
  }

  /**
   * The offset from somebody else's wall-clock time, such as `sendAt`, to steady time. A jump of the wall clock while the process runs does not
   * count, because the steady clock does not jump.
   */
  get toSteadyMs(): number {
    const skewMs = this.provider.clockSkewMs()
    const hasJumped = this.isWrong && skewMs !== null && Math.abs(skewMs) <= MAX_CLOCK_ERROR_MS
    return hasJumped ? skewMs : this.clock.steady() - this.clock.now()
  }

  get #providerNow(): number | null {
    const skewMs = this.provider.clockSkewMs()
    return skewMs === null ? null : this.clock.steady() - skewMs
  }
}

/** Returns a function that logs if the clock has become wrong, or right again, since the last call. */
export function watchClock({ clockCheck, log }: { clockCheck: ClockCheck; log: Log }): () => Promise<void> {
  let wasWrong = false
  return () => {
    const fault = clockCheck.describe()
    if (fault !== null && !wasWrong) log.error({ aheadMs: clockCheck.aheadMs }, `${fault.what}. ${fault.fix}`)
    if (fault === null && wasWrong) log.info({}, 'the clock agrees with the provider again')
    wasWrong = fault !== null
    return Promise.resolve()
  }
}
