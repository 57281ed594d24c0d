import type { EncryptionContext, Secrets } from '../core/secrets.ts'
import type { ExtensionRow } from './directory.ts'
import type { EncryptedPair, ExtensionKey } from './extension-rows.ts'
import type { TokenPair } from './grants.ts'

// The credentials in an extension's row: each encrypted for this row and its own purpose.

/** Encrypts a pair that the provider issued at `now`, epoch milliseconds. A session without a refresh token ends with its access token. */
export async function encryptPair(
  secrets: Secrets,
  key: ExtensionKey,
  { accessToken, refreshToken, ...pair }: TokenPair,
  now: number,
): Promise<EncryptedPair> {
  const accessExpiresAt = now + pair.expiresInSeconds * 1000
  return {
    accessToken: await secrets.encrypt(accessToken, encryptionContext(key, 'rc_access')),
    accessExpiresAt,
    refreshToken: await secrets.encrypt(refreshToken ?? NONE, encryptionContext(key, 'rc_refresh')),
    refreshExpiresAt: refreshToken === null ? accessExpiresAt : now + pair.refreshExpiresInSeconds * 1000,
    sessionEndsAt: pair.sessionEndsInSeconds === null ? null : now + pair.sessionEndsInSeconds * 1000,
    refreshedAt: now,
  }
}

/** Stands for a refresh token that was not issued. Its encrypted form differs each time, so it identifies a stored pair like a real one. */
const NONE = ''

/** Null if the session has none. */
export async function decryptRefresh(secrets: Secrets, row: ExtensionRow): Promise<string | null> {
  const refreshToken = await secrets.decrypt(row.refreshToken, encryptionContext(row, 'rc_refresh'))
  return refreshToken === NONE ? null : refreshToken
}

/** A token that ends the session of this row; null if the session has already ended because it had no refresh token. */
export async function sessionToken(secrets: Secrets, row: ExtensionRow, now: number): Promise<string | null> {
  const refreshToken = await decryptRefresh(secrets, row)
  if (refreshToken !== null || row.accessExpiresAt <= now) return refreshToken
  return secrets.decrypt(row.accessToken, encryptionContext(row, 'rc_access'))
}

export const encryptJwt = (secrets: Secrets, key: ExtensionKey, jwt: string): Promise<string> =>
  secrets.encrypt(jwt, encryptionContext(key, 'rc_jwt'))

/** Null if a person authorized the extension. */
export const decryptJwt = async (secrets: Secrets, row: ExtensionRow): Promise<string | null> =>
  row.jwt === null ? null : secrets.decrypt(row.jwt, encryptionContext(row, 'rc_jwt'))

/** How many credentials of the row were encrypted with an older key. */
export const countStale = (secrets: Secrets, { accessToken, refreshToken, jwt }: ExtensionRow): number =>
  [accessToken, refreshToken, jwt].filter((encrypted) => encrypted !== null && !secrets.isCurrent(encrypted)).length

/** All credentials of the row, encrypted with the newest key. */
export async function encryptedAgain(
  secrets: Secrets,
  row: ExtensionRow,
): Promise<Pick<ExtensionRow, 'accessToken' | 'refreshToken' | 'jwt'>> {
  const again = async (encrypted: string, purpose: EncryptionContext['purpose']): Promise<string> =>
    secrets.encrypt(await secrets.decrypt(encrypted, encryptionContext(row, purpose)), encryptionContext(row, purpose))
  return {
    accessToken: await again(row.accessToken, 'rc_access'),
    refreshToken: await again(row.refreshToken, 'rc_refresh'),
    jwt: row.jwt === null ? null : await again(row.jwt, 'rc_jwt'),
  }
}

/** The row and purpose for which a credential is encrypted. */
export const encryptionContext = (key: ExtensionKey, purpose: EncryptionContext['purpose']): EncryptionContext => ({
  tenantId: key.tenantId,
  row: key.extensionId,
  purpose,
})
