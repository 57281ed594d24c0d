import { SgwError } from '../../../client/client.ts'
import { clientWith } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { OpenedSession } from '../state/operator.ts'
import { beginSession, session, signInReason, storedSession } from '../state/session.ts'

/** Exchanges a login from `sgw console` for a session; null asks for the session that development with the simulator grants. */
export async function signInByLogin(login: string | null): Promise<void> {
  try {
    const body = login === null ? {} : { login }
    const opened = clientWith('').request<OpenedSession>('POST', '/v1/operator/session', { body })
    const { token, expiresAt } = await opened
    beginSession({ kind: 'operator', token }, expiresAt)
  } catch (error) {
    session.value = storedSession()
    if (login !== null)
      signInReason.value = reasonOf(
        error,
        'This link was already used, or is older than 10 minutes. Run “sgw console” for a new one.',
      )
  }
}

/** Signs in with an app's key, if the gateway accepts it. */
export async function signInByKey(key: string): Promise<void> {
  try {
    await clientWith(key).me()
    beginSession({ kind: 'key', token: key })
  } catch (error) {
    signInReason.value = reasonOf(
      error,
      'The gateway does not know this key, or its app is inactive. Check it, or make a new one: sgw app rotate-key APP.',
    )
  }
}

function reasonOf(error: unknown, refused: string): string {
  if (!(error instanceof SgwError)) throw error
  if (error.status === 401) return refused
  if (error.status === 429) return 'There were too many attempts from this address. Try again in a few minutes.'
  return failureText(error)
}
