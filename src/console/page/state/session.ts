import { signal } from '@preact/signals'
import { GATEWAY } from './address.ts'
import { readStored, readStoredObject, writeStored } from './settings.ts'

/** Whose session it is: an operator's, or that of anyone with an app's key. */
export interface Session {
  kind: 'operator' | 'key'
  /** The operator's token or the app's key. */
  token: string
}

export const session = signal<Session | null>(null)

/** Why the last sign-in failed or the session ended, as a sentence; '' if neither. */
export const signInReason = signal('')

/**
 * An operator's token is kept until it expires, so that a second tab opens; an app's key only as long as the tab. Gateways below different
 * prefixes of the same host have separate sessions.
 */
const PREFIX = GATEWAY.slice(location.origin.length)
const OPERATOR = `sgw.operator${PREFIX}`
const KEY = `sgw.key${PREFIX}`

/** Where the number of tenants is remembered, until somebody signs in. */
export const TENANTS = 'sgw.tenants'

export function beginSession(started: Session, expiresAt = ''): void {
  if (started.kind === 'operator') writeStored('local', OPERATOR, JSON.stringify({ token: started.token, expiresAt }))
  else writeStored('session', KEY, started.token)
  writeStored('local', TENANTS, null)
  signInReason.value = ''
  session.value = started
}

export function endSession(reason: string): void {
  writeStored('local', OPERATOR, null)
  writeStored('session', KEY, null)
  signInReason.value = reason
  session.value = null
}

/** The session of this browser, or of this tab. */
export function storedSession(): Session | null {
  const { token, expiresAt = '' } = readStoredObject<{ token: string; expiresAt: string }>(OPERATOR)
  if (token && Date.parse(expiresAt) > Date.now()) return { kind: 'operator', token }
  const key = readStored('session', KEY)
  return key === null ? null : { kind: 'key', token: key }
}
