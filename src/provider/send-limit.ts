import type { Config } from '../core/config.ts'
import type { Provider } from './provider.ts'
import { SEND_GROUP } from './quota.ts'

/** RingCentral's default for the group Medium. */
const DEFAULT_PER_MINUTE = 40

export interface SendLimit {
  /** How many messages an extension may send in a minute. */
  perMinute: number
  /** The operator's setting, and the provider's limit; null if unknown. */
  set: number | null
  told: number | null
}

/** The operator's setting counts. Without one, a lower limit from the provider counts, but not a higher one. */
export function sendLimitOf(
  { extensionLimitPerMinute: set }: Pick<Config, 'extensionLimitPerMinute'>,
  provider: Pick<Provider, 'ratePerMinute'>,
): SendLimit {
  const told = provider.ratePerMinute(SEND_GROUP)
  return { perMinute: set ?? Math.min(DEFAULT_PER_MINUTE, told ?? DEFAULT_PER_MINUTE), set, told }
}
