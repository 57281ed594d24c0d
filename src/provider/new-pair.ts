import type { Log } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { ExtensionRow } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { TokenPair } from './grants.ts'
import { FOREIGN_OWNER, type Provider, type ProviderFailure, type ProviderResult } from './provider.ts'
import { type Quota, asksForNoPause } from './quota.ts'
import { isSessionLost } from './refresh-policy.ts'
import type { RefreshRefusal } from './stored-refusals.ts'
import { decryptJwt, decryptRefresh } from './stored-credentials.ts'

export type NewPair = { ok: true; value: TokenPair } | ({ ok: false } & RefreshRefusal)

export interface NewPairContext {
  provider: Pick<Provider, 'refresh' | 'exchangeJwt'>
  quota: Quota
  secrets: Secrets
  log: Log
  /** Called when a JWT has opened a new session, before its tokens are stored. */
  sessionOpened(key: ExtensionKey): void
}

/**
 * Refreshes the pair of an extension. If its session is lost, or has no refresh token, its JWT opens a new one, but not before: a user and an
 * app have five sessions, and the sixth ends the oldest without notice.
 */
export async function newPair(context: NewPairContext, row: ExtensionRow): Promise<NewPair> {
  const { provider, secrets, log } = context
  const refreshToken = await decryptRefresh(secrets, row)
  if (refreshToken !== null || row.jwt === null) {
    const refreshed = await limited(context, row, () => provider.refresh(refreshToken ?? '', row.jwt !== null))
    if (refreshed.ok) return refreshed
    if (row.jwt === null || !isSessionLost(refreshed.failure)) return { ...refreshed, step: 'refresh' }
    const { tenantId, extensionId } = row
    log.info({ tenantId, extensionId, code: refreshed.failure.code }, 'the session is lost: the JWT opens a new one')
  }
  // Decrypted only now: while refreshes work, a JWT with a missing key does no harm.
  const jwt = (await decryptJwt(secrets, row)) ?? ''
  const opened = await limited(context, row, () => provider.exchangeJwt(jwt))
  if (opened.ok) context.sessionOpened({ tenantId: row.tenantId, extensionId: row.extensionId })
  return opened.ok ? opened : { ...opened, step: 'jwt' }
}

/** Makes a call of the group `auth`, unless the provider has requested a pause. */
async function limited(
  { quota }: NewPairContext,
  { extensionId }: ExtensionRow,
  call: () => Promise<ProviderResult<TokenPair>>,
): Promise<ProviderResult<TokenPair>> {
  const waitMs = quota.authWaitMs(extensionId, 'tokens')
  if (waitMs > 0) return { ok: false, failure: { ...PAUSED, retryAfterMs: Math.ceil(waitMs) } }
  quota.countAuth(extensionId)
  const result = ofOwner(extensionId, await call())
  if (!result.ok && result.failure.reason === 'rate_limited')
    quota.pauseAsAnnounced(extensionId, 'auth', result.failure.retryAfterMs)
  else if (result.ok || !asksForNoPause(result.failure)) quota.answered(extensionId, 'auth')
  return result
}

/** Refuses tokens of another extension, which a cached answer may have: everything would go to that extension's messages. */
const ofOwner = (extensionId: string, result: ProviderResult<TokenPair>): ProviderResult<TokenPair> =>
  result.ok && result.value.ownerId !== extensionId ? { ok: false, failure: FOREIGN } : result

const FOREIGN: ProviderFailure = {
  reason: 'rejected',
  status: 200,
  code: FOREIGN_OWNER,
  message: "The provider answered with another extension's tokens",
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
}

/** The failure of a call that was not made. */
const PAUSED: ProviderFailure = {
  reason: 'rate_limited',
  status: null,
  code: null,
  message: 'The provider asked to wait',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
}
