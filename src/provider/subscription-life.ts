import { FILTER_REFUSED, type ProviderFailure, type ProviderSubscription } from './provider.ts'

/** A life that the provider granted, as it is noted. Epoch milliseconds. */
export interface Grant {
  expiresAt: number | null
  grantedAt: number | null
}

export const grantOf = (expiresAt: unknown, grantedAt: unknown): Grant => ({
  expiresAt: typeof expiresAt === 'number' ? expiresAt : null,
  grantedAt: typeof grantedAt === 'number' ? grantedAt : null,
})

/** When the life that ends at `expiresAt` was granted; null if another one is noted. */
export const grantedAtOf = (grant: Grant | undefined, expiresAt: number): number | null =>
  grant?.expiresAt === expiresAt ? grant.grantedAt : null

/** How long until half of the granted life is over. */
export const halfLifeMs = (expiresAt: number, grantedAt: number, now: number): number =>
  (expiresAt + grantedAt) / 2 - now

export const isSound = (subscription: ProviderSubscription): boolean =>
  subscription.status === 'Active' && subscription.disabledFilters === 0

/** A subscription that the provider made, but that brings nothing. */
export const unsound = ({ disabledFilters, requestId = null }: ProviderSubscription): ProviderFailure => ({
  reason: 'rejected',
  status: 200,
  code: disabledFilters > 0 ? FILTER_REFUSED : null,
  message: 'The subscription was made, but it is not active',
  oauthError: null,
  retryAfterMs: null,
  requestId,
})
