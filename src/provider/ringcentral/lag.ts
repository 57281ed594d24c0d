/** A smaller lag counts as none: `Date` has a resolution of one second, and answers take time. */
const NEGLIGIBLE_MS = 30_000
const MINUTE_MS = 60_000
const MAX_MS = 86_400_000

/** Lists by the provider's clock, and again if the answer shows a larger lag than the request assumed. */
export async function byTheirClock<T>(lag: Lag, list: (lagMs: number) => Promise<T>): Promise<T> {
  const usedMs = lag.ms
  const listed = await list(usedMs)
  return lag.ms > usedMs ? list(lag.ms) : listed
}

/**
 * How far the provider's clock is behind this machine's, by the `Date` of its answers (RFC 9110 6.6.1). If this machine's clock is fast, a
 * query for recent records would otherwise ask about the provider's future and find nothing.
 */
export class Lag {
  /** Rounded up to minutes, so that it does not change with every answer. */
  ms = 0
  /** How far this machine's steady clock is ahead, to the second; null before the first answer. */
  skewMs: number | null = null
  hasAnswered = false

  constructor(
    readonly now: () => number,
    readonly steady: () => number,
  ) {}

  /** Records the `Date` of an answer. If this machine's clock is slow, the lag is 0, so queries only cover more time than needed. */
  heard(date: string | null): void {
    this.hasAnswered = true
    const at = Date.parse(date ?? '')
    if (Number.isNaN(at)) return
    const behindMs = this.now() - at
    this.skewMs = this.steady() - at
    this.ms = behindMs < NEGLIGIBLE_MS ? 0 : Math.min(Math.ceil(behindMs / MINUTE_MS) * MINUTE_MS, MAX_MS)
  }
}
