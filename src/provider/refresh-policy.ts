import { REFRESH_RETRY_FIRST_MS, REFRESH_RETRY_MAX_MS, REFRESH_RETRY_MIN_MS } from '../core/limits.ts'
import type { ProviderFailure } from './provider.ts'

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
