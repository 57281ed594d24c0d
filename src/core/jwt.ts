/** A copied JWT without the line breaks and spaces that a terminal, a mail or an editor added. */
export const bareJwt = (copied: string): string => copied.replace(/\s+/g, '')

/** The last second that the API's times can express. */
export const END_OF_TIME = Date.parse('9999-12-31T23:59:59.000Z')

/**
 * When a JWT says that it expires (`exp`, RFC 7519 4.1.4), epoch milliseconds; null if it does not say, or cannot be read. Only for display:
 * the provider decides whether it accepts the JWT.
 */
export function jwtExpiresAt(jwt: string): number | null {
  const exp = claimsOf(jwt)['exp']
  if (typeof exp !== 'number' || !(exp > 0)) return null
  return Math.min(Math.floor(exp * 1000), END_OF_TIME)
}

/**
 * The cause that a refused JWT itself shows, and the fix, to say before the provider's own sentence; null if it shows none. The gateway
 * presented the JWT anyway: only the provider knows its own form, and this machine's clock may be wrong.
 */
export function seenFault(jwt: string, now: number): string | null {
  const damage = damageOf(jwt)
  if (damage !== null)
    return `This JWT is incomplete. Copy all of it again: a JWT has three parts with a dot between them, and ${damage}. If it is refused again:`
  const expiresAt = jwtExpiresAt(jwt)
  return expiresAt !== null && expiresAt <= now
    ? `This JWT expired on ${new Date(expiresAt).toISOString()}: make a new one.`
    : null
}

const PARTS = 3
const ES256_BYTES = 64

/** A header, claims and a signature (RFC 7515 7.1). RingCentral's algorithm has signatures of one length (RFC 7518 3.4). */
function damageOf(jwt: string): string | null {
  if (!/^[\w.-]*$/.test(jwt)) return 'this one has other characters, such as quotes or a name before it'
  const parts = jwt.split('.')
  if (parts.length !== PARTS) return `this one has ${parts.length}`
  const [header, claims, signature = ''] = parts
  const { alg } = jsonOf(header)
  if (alg === undefined) return 'the first part of this one cannot be read'
  if (Object.keys(jsonOf(claims)).length === 0) return 'the second part of this one cannot be read'
  const bytes = Buffer.from(signature, 'base64url').length
  if (bytes === 0 || (alg === 'ES256' && bytes < ES256_BYTES)) return 'the last part of this one is cut off'
  return alg === 'ES256' && bytes > ES256_BYTES ? 'something follows the last part of this one' : null
}

const claimsOf = (jwt: string): Record<string, unknown> => jsonOf(jwt.split('.')[1])

/** Empty if the part cannot be read. */
function jsonOf(part = ''): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
