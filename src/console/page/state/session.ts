import { signal } from '@preact/signals'
import { Sgw, SgwError } from '../../../client/client.ts'
import { takeLogin } from './address.ts'
import { failureText } from './failure.ts'
import { closeSession, openSession } from './operator.ts'
import { readStored, writeStored } from './settings.ts'

/** Who looks at the console: an operator by a session, or anyone with an app's key. */
export interface Session {
  kind: 'operator' | 'key'
  /** The operator's token or the app's key. */
  token: string
}

export const session = signal<Session | null>(null)

/** Why the last sign-in failed or ended, as a sentence; '' without a reason. */
export const signInReason = signal('')

/** An operator's token is kept until it expires, so that a second tab opens; an app's key as long as the tab. */
const OPERATOR = 'sgw.operator'
const KEY = 'sgw.key'

const clientOf = (token: string): Sgw => new Sgw({ baseUrl: location.origin, apiKey: token })

/** Finds the session: the login in the address, the stored one, or, beside the simulator, one that needs no login. */
export async function findSession(): Promise<void> {
  const login = takeLogin()
  if (login !== null) return signInByLogin(login)
  session.value = storedSession()
  if (session.value === null && document.documentElement.dataset['simulator'] !== undefined) await signInByLogin(null)
}

/** Exchanges a login from `sgw console` for a session; null asks for the session that development with the simulator grants. */
export async function signInByLogin(login: string | null): Promise<void> {
  try {
    const { token, expiresAt } = await openSession(clientOf(''), login)
    writeStored('local', OPERATOR, JSON.stringify({ token, expiresAt }))
    begin({ kind: 'operator', token })
  } catch (error) {
    session.value = storedSession()
    if (login !== null)
      signInReason.value = reasonOf(
        error,
        'This link was used, or it is older than 10 minutes. Run “sgw console” for a new one.',
      )
  }
}

/** Signs in with an app's key, if the gateway accepts it. */
export async function signInByKey(key: string): Promise<void> {
  try {
    await clientOf(key).me()
    writeStored('session', KEY, key)
    begin({ kind: 'key', token: key })
  } catch (error) {
    signInReason.value = reasonOf(
      error,
      'The gateway does not know this key, or its app is inactive. Check it, or make a new one: sgw app rotate-key APP.',
    )
  }
}

/** Ends the session here and, for an operator, at the gateway. */
export async function signOut(): Promise<void> {
  const ended = session.value
  endSession('')
  if (ended?.kind === 'operator') await closeSession(clientOf(ended.token)).catch(() => undefined)
}

/** Forgets the session, and says why. */
export function endSession(reason: string): void {
  writeStored('local', OPERATOR, null)
  writeStored('session', KEY, null)
  signInReason.value = reason
  session.value = null
}

function begin(started: Session): void {
  signInReason.value = ''
  session.value = started
}

function storedSession(): Session | null {
  const operator = parseOperator(readStored('local', OPERATOR))
  if (operator !== null) return operator
  const key = readStored('session', KEY)
  return key === null ? null : { kind: 'key', token: key }
}

function parseOperator(stored: string | null): Session | null {
  if (stored === null) return null
  try {
    const { token, expiresAt } = JSON.parse(stored) as { token: string; expiresAt: string }
    return Date.parse(expiresAt) > Date.now() ? { kind: 'operator', token } : null
  } catch {
    return null
  }
}

function reasonOf(error: unknown, refused: string): string {
  if (!(error instanceof SgwError)) throw error
  if (error.status === 401) return refused
  if (error.status === 429) return 'There were too many attempts from this address. Try again in a few minutes.'
  return failureText(error)
}
