import type { Clock } from '../core/clock.ts'
import type { Provider } from './provider.ts'

const SECOND_MS = 1000

/**
 * The current second by the provider's clock, in epoch milliseconds; by this machine's clock while the skew is unknown. The provider dates
 * messages by seconds.
 */
export const providerNow = ({ clock, provider }: { clock: Clock; provider: Pick<Provider, 'clockSkewMs'> }): number =>
  Math.floor((clock.steady() - (provider.clockSkewMs() ?? 0)) / SECOND_MS) * SECOND_MS

/** The provider's times are ahead of `providerNow` by less than this, because a `Date` has a resolution of one second. */
const MAX_AHEAD_MS = 60_000

/** When an opt-out was decided, by the time of its record. A wrong time in the future would make every later decision count as older. */
export const decidedAtOf = (context: Parameters<typeof providerNow>[0], recordedAt: number): number =>
  Math.min(recordedAt, providerNow(context) + MAX_AHEAD_MS)
