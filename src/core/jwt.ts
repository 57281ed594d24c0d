/** A JWT as it was copied, without the line breaks and spaces that a terminal, a mail or an editor has added. */
export const bareJwt = (copied: string): string => copied.replace(/\s+/g, '')

/** The last second that a time of the API can name. */
export const END_OF_TIME = Date.parse('9999-12-31T23:59:59.000Z')

/**
 * When a JWT says that it expires (`exp`, RFC 7519 4.1.4), epoch milliseconds; null if it does not say, or cannot be read. Only for people
 * to see: whether it is accepted is the provider's to decide.
 */
export function jwtExpiresAt(jwt: string): number | null {
  const exp = claimsOf(jwt)['exp']
  if (typeof exp !== 'number' || !(exp > 0)) return null
  return Math.min(Math.floor(exp * 1000), END_OF_TIME)
}

function claimsOf(jwt: string): Record<string, unknown> {
  try {
    const text = Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()
    const claims: unknown = JSON.parse(text)
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch {
    return {}
  }
}
