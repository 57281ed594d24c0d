import type { Config } from '../core/config.ts'
import type { Provider } from './provider.ts'
import { SEND_GROUP } from './quota.ts'

/** RingCentral's default for the group Medium. */
const DEFAULT_PER_MINUTE = 40

export interface SendLimit {
  /** How many messages an extension may send in a minute. */
  perMinute: number
  /** What the operator has set, and what the provider tells; null if nothing. */
  set: number | null
  told: number | null
}

/** What the operator has set counts. Else a lower limit of the provider's counts, but no higher one. */
export function sendLimitOf(
  { extensionLimitPerMinute: set }: Pick<Config, 'extensionLimitPerMinute'>,
  provider: Pick<Provider, 'ratePerMinute'>,
): SendLimit {
  const told = provider.ratePerMinute(SEND_GROUP)
  return { perMinute: set ?? Math.min(DEFAULT_PER_MINUTE, told ?? DEFAULT_PER_MINUTE), set, told }
}
