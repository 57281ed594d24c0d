/** One-second steps and the answer's way blur it: less than that counts as none. */
const NEGLIGIBLE_MS = 30_000
const MINUTE_MS = 60_000
const MAX_MS = 86_400_000

/**
 * How far the provider's clock is behind ours, by the `Date` of its answers (RFC 9110 6.6.1). Who asks for records since
 * a time of ours would otherwise ask about the provider's future when our clock is fast, and find nothing.
 */
export class Lag {
  /** Whole minutes, so that it does not change with every answer. */
  ms = 0
  /** How far our steady clock is ahead, as precisely as the header tells; null before the first answer. */
  skewMs: number | null = null

  constructor(
    readonly now: () => number,
    readonly steady: () => number,
  ) {}

  /** A clock of ours that is slow needs nothing: it asks about too long a time. */
  heard(date: string | null): void {
    const behindMs = this.now() - Date.parse(date ?? '')
    if (Number.isNaN(behindMs)) return
    this.skewMs = this.steady() - Date.parse(date ?? '')
    this.ms = behindMs < NEGLIGIBLE_MS ? 0 : Math.min(Math.ceil(behindMs / MINUTE_MS) * MINUTE_MS, MAX_MS)
  }
}
