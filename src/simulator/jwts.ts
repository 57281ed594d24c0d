import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'

/** What a user chooses in the developer console for a JWT. */
export interface JwtCredential {
  extensionId: number
  /** The one app that may present it; null for all apps of the organization. */
  clientId: string | null
  /** Epoch milliseconds; null for no end. */
  expiresAt: number | null
}

/**
 * Users' JWT credentials (RingCentral developer guide, "Create a JWT credential"). They are counted, so a restarted simulator makes
 * the same ones again.
 */
export class Jwts {
  readonly #credentials = new Map<string, JwtCredential>()
  #made = 0

  constructor(private readonly clock: Clock) {}

  add(credential: JwtCredential): string {
    const jwt = signed({ ...credential, number: ++this.#made })
    this.#credentials.set(jwt, credential)
    return jwt
  }

  /** Sessions that it opened continue: the guide does not say that they end. False if there is no such JWT. */
  remove(jwt: string): boolean {
    return this.#credentials.delete(jwt)
  }

  /** The user of a JWT that this app may present now, or null. */
  ownerOf(jwt: string, clientId: string): number | null {
    const credential = this.#credentials.get(jwt)
    if (credential === undefined || (credential.clientId ?? clientId) !== clientId) return null
    return this.clock.now() < (credential.expiresAt ?? Number.POSITIVE_INFINITY) ? credential.extensionId : null
  }
}

const HEADER = { alg: 'ES256', kid: 'simulator' }
const ISSUER = 'https://platform.ringcentral.com'

/** Has the form of a signed JWT and is as long as one. Only the simulator reads it, and it knows its own. */
function signed({ extensionId, expiresAt, number }: JwtCredential & { number: number }): string {
  const end = expiresAt === null ? {} : { exp: Math.floor(expiresAt / 1000) }
  const text = [HEADER, { iss: ISSUER, sub: String(extensionId), ...end, jti: `simulator-${number}` }]
    .map(encoded)
    .join('.')
  return `${text}.${createHash('sha512').update(text).digest('base64url')}`
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
