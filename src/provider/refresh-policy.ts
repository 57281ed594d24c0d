import { REFRESH_RETRY_FIRST_MS, REFRESH_RETRY_MAX_MS, REFRESH_RETRY_MIN_MS, TOKEN_FRESH_MS } from '../core/limits.ts'
import type { ExtensionRow } from './directory.ts'
import type { Log } from '../core/log.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { ProviderFailure } from './provider.ts'

type TokenTimes = Pick<ExtensionRow, 'status' | 'accessExpiresAt' | 'refreshedAt' | 'nextRefreshAt'>

/**
 * Whether the stored access token may be used: it is not about to expire. A token that lives for a minute or less is used for
 * half its life, and as long as it may not be refreshed again. `now`: epoch milliseconds.
 */
export function isTokenUsable(times: TokenTimes, now: number): boolean {
  const { status, accessExpiresAt, refreshedAt } = times
  if (status !== 'active') return false
  const leftMs = accessExpiresAt - now
  if (leftMs > Math.min(TOKEN_FRESH_MS, (accessExpiresAt - refreshedAt) / 2)) return true
  return leftMs > 0 && msUntilRefresh(times, now) > 0
}

/** Milliseconds until a token may be refreshed again; 0 if it may be now. */
export function msUntilRefresh({ status, refreshedAt, nextRefreshAt }: TokenTimes, now: number): number {
  if (status === 'refresh_failed') return Math.max(0, (nextRefreshAt ?? 0) - now)
  const ageMs = now - refreshedAt
  // The clock may have been set back since.
  return ageMs < 0 ? 0 : Math.max(0, REFRESH_RETRY_FIRST_MS - ageMs)
}

/** 10 s after the first failure, then 1 min doubling to 30 min. */
export function refreshDelayMs(failures: number): number {
  if (failures <= 1) return REFRESH_RETRY_FIRST_MS
  return Math.min(REFRESH_RETRY_MIN_MS * 2 ** (failures - 2), REFRESH_RETRY_MAX_MS)
}

/** Codes for states of a user that an administrator can undo, so that the grant is not lost (RingCentral: OAU error codes). */
const UNDOABLE_CODES = ['OAU-141', 'OAU-142', 'OAU-236']

/** Whether the grant is lost, so that a person must authorize the extension again. */
export const meansRevoked = (failure: ProviderFailure): boolean =>
  failure.oauthError === 'invalid_grant' && !UNDOABLE_CODES.includes(failure.code ?? '')

export function logRefreshFailure(log: Log, key: ExtensionKey, failure: ProviderFailure, delayMs: number): void {
  const { status, code, requestId, oauthError } = failure
  log.warn(
    { tenantId: key.tenantId, extensionId: key.extensionId, status, code, delayMs, requestId },
    oauthError === 'invalid_client'
      ? 'token refresh refused: check RC_CLIENT_ID and RC_CLIENT_SECRET'
      : 'token refresh failed, trying again',
  )
}
