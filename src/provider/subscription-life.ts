import { FILTER_REFUSED, type ProviderSubscription } from './provider-subscription.ts'
import type { WaitCause } from './extension-calls.ts'
import { LOGINS_USED_UP, type ProviderFailure, TOKENS_AWAITED } from './provider.ts'

/** A stored grant: the provider let the subscription live until `expiresAt`. Epoch milliseconds. */
export interface Grant {
  expiresAt: number | null
  grantedAt: number | null
}

/** When the life that ends at `expiresAt` was granted; null if the stored grant is a different one. */
export const grantedAtOf = (grant: Grant | undefined, expiresAt: number): number | null =>
  grant?.expiresAt === expiresAt ? grant.grantedAt : null

/** Milliseconds until half of the granted life is over. */
export const halfLifeMs = (expiresAt: number, grantedAt: number, now: number): number =>
  (expiresAt + grantedAt) / 2 - now

/** Whether the subscription delivers inbound messages. */
export const isSound = (subscription: ProviderSubscription): boolean =>
  subscription.status === 'Active' && subscription.disabledFilters === 0

/** The failure for a subscription that the provider created but that does not work. */
export const unsound = ({ disabledFilters, requestId = null }: ProviderSubscription): ProviderFailure => ({
  reason: 'rejected',
  status: 200,
  code: disabledFilters > 0 ? FILTER_REFUSED : null,
  message: 'The subscription was made, but it is not active',
  oauthError: null,
  retryAfterMs: null,
  requestId,
})

const MIN_WAIT_MS = 1000

export interface Wait {
  cause: WaitCause
  retryInMs: number
}

/** The failure of a run that did nothing yet. The next one comes after its `retryAfterMs`. */
export const waitFailure = ({ cause, retryInMs }: Wait): ProviderFailure & { retryAfterMs: number } => ({
  reason: 'rate_limited',
  status: null,
  code: WAIT_CODES[cause],
  message: 'Its events have not begun yet, so its messages arrive up to a minute late',
  oauthError: null,
  retryAfterMs: Math.max(MIN_WAIT_MS, retryInMs),
  requestId: null,
})

const WAIT_CODES = { pause: null, logins: LOGINS_USED_UP, tokens: TOKENS_AWAITED } as const
