import { REFRESH_RETRY_FIRST_MS, REFRESH_RETRY_MAX_MS, REFRESH_RETRY_MIN_MS, TOKEN_FRESH_MS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { ExtensionRow } from './directory.ts'
import type { Log } from '../core/log.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { ProviderFailure, Step } from './provider.ts'
import type { Quota } from './quota.ts'

type TokenTimes = Pick<ExtensionRow, 'status' | 'accessExpiresAt' | 'refreshedAt' | 'nextRefreshAt'>
type TokenOwner = TokenTimes & Pick<ExtensionRow, 'extensionId' | 'jwt'>

/**
 * Whether the stored access token may be used: it is not about to expire. A token that lives for a minute or less is used for half its life,
 * and as long as it may not be refreshed again. After a failed refresh, no token is used; but if a JWT opens sessions, a pause of logins does
 * not stop sends.
 */
export function isTokenUsable(row: TokenOwner, { clock, quota }: { clock: Clock; quota: Quota }): boolean {
  const { status, accessExpiresAt, refreshedAt, jwt, extensionId } = row
  const now = clock.now()
  const leftMs = accessExpiresAt - now
  if (status === 'refresh_failed') return jwt !== null && leftMs > 0 && quota.authWaitMs(extensionId, 'tokens') > 0
  if (status !== 'active') return false
  if (leftMs > Math.min(TOKEN_FRESH_MS, (accessExpiresAt - refreshedAt) / 2)) return true
  return leftMs > 0 && msUntilRefresh(row, now) > 0
}

/** Milliseconds until a token may be refreshed again; 0 if it may be now. */
export function msUntilRefresh({ status, refreshedAt, nextRefreshAt }: TokenTimes, now: number): number {
  if (status === 'refresh_failed') return Math.max(0, (nextRefreshAt ?? 0) - now)
  const ageMs = now - refreshedAt
  // The clock may have been set back meanwhile.
  return ageMs < 0 ? 0 : Math.max(0, REFRESH_RETRY_FIRST_MS - ageMs)
}

/** 10 s after the first failure, then 1 min doubling to 30 min. */
export function refreshDelayMs(failures: number): number {
  if (failures <= 1) return REFRESH_RETRY_FIRST_MS
  return Math.min(REFRESH_RETRY_MIN_MS * 2 ** (failures - 2), REFRESH_RETRY_MAX_MS)
}

/** Codes for user states that an administrator can undo, so the grant is not lost (RingCentral: OAU error codes). */
const UNDOABLE_CODES = ['OAU-141', 'OAU-142', 'OAU-236']

/** Whether the grant is lost, so that a person must authorize the extension again. */
export const meansRevoked = (failure: ProviderFailure): boolean =>
  failure.oauthError === 'invalid_grant' && !UNDOABLE_CODES.includes(failure.code ?? '')

/** Whether a session has ended, or cannot be refreshed by this app, so that its JWT must open another one. */
export const isSessionLost = (failure: ProviderFailure): boolean =>
  meansRevoked(failure) || failure.oauthError === 'unauthorized_client'

/** How to connect a revoked extension again, in the same way as before. */
export const commandToConnect = ({ tenantId, jwt }: Pick<ExtensionRow, 'tenantId' | 'jwt'>): string =>
  jwt === null
    ? `sgw extensions invite --tenant ${tenantId}`
    : `sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE`

export function logRevoked(log: Log, row: ExtensionRow, why: string): void {
  const { tenantId, extensionId, jwt } = row
  const how = jwt === null ? 'authorize it again, with an invite link' : 'connect it again, with another JWT'
  log.warn({ tenantId, extensionId, why, fix: commandToConnect(row) }, `extension revoked: someone must ${how}`)
}

interface FailedRefresh {
  step: Step
  failure: ProviderFailure
  delayMs: number
}

export function logRefreshFailure(log: Log, key: ExtensionKey, { step, failure, delayMs }: FailedRefresh): void {
  const { status, code, requestId, oauthError } = failure
  log.warn(
    { tenantId: key.tenantId, extensionId: key.extensionId, step, status, code, delayMs, requestId },
    oauthError === 'invalid_client'
      ? 'token refresh refused: check RC_CLIENT_ID and RC_CLIENT_SECRET'
      : 'token refresh failed, trying again',
  )
}
