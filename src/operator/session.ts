import type { OpenedSession } from '../auth/operator-sessions.ts'
import { isoTime } from '../core/clock.ts'
import { ApiError, apiError } from '../core/errors.ts'
import type { Gateway } from '../messages/gateway.ts'
import { plainHttpAddresses } from './console-addresses.ts'
import type { LinkAnswer, SessionAnswer } from './schemas.ts'

/** Who asks for a session. */
export interface Visitor {
  /** The login of a link, as sent. */
  login: unknown
  /** The address for which failed attempts count. */
  address: string
  isFromThisMachine: boolean
  /** Whether the request comes from a page of this gateway on this machine. */
  isFromOwnPage: boolean
}

/** Opens a session with a link's login; in development with the simulator also without one. Errors: `badLogin`. */
export async function openSession(gateway: Gateway, visitor: Visitor): Promise<SessionAnswer> {
  const { login } = visitor
  const opened =
    login === undefined
      ? await openWithoutLogin(gateway, visitor)
      : typeof login === 'string'
        ? await openWithLogin(gateway, login, visitor)
        : null
  if (opened === null) {
    // A page that sends no login presents no credential.
    if (login !== undefined) gateway.failedAttempts.note(visitor.address)
    throw apiError('badLogin')
  }
  const { sessionId, token, expiresAt, ended } = opened
  gateway.log.audit({ session: sessionId, address: visitor.address }, 'an operator signed in')
  for (const oldest of ended) {
    gateway.hub.revoke({ sessionId: oldest })
    gateway.log.audit({ session: oldest, by: sessionId }, 'the oldest session of an operator ended: too many are open')
  }
  return { sessionId, token, expiresAt: isoTime(expiresAt) }
}

async function openWithoutLogin(gateway: Gateway, { isFromOwnPage }: Visitor): Promise<OpenedSession | null> {
  const { production, provider } = gateway.config
  return !production && provider.simulated && isFromOwnPage ? gateway.operatorSessions.open() : null
}

async function openWithLogin(
  { operatorSessions }: Gateway,
  login: string,
  { isFromThisMachine }: Visitor,
): Promise<OpenedSession | null> {
  if (!operatorSessions.isDevelopmentLogin(login)) return operatorSessions.openWith(login)
  return isFromThisMachine ? operatorSessions.open() : null
}

/** Ends a session and closes its sockets. */
export async function endSession(gateway: Gateway, sessionId: string | null): Promise<{ ok: true }> {
  if (sessionId === null)
    throw new ApiError('conflict', 'This is not a session: sgw console --revoke ends all sessions')
  await gateway.operatorSessions.end(sessionId)
  gateway.hub.revoke({ sessionId })
  return { ok: true }
}

/** Makes a link that signs an operator in once, within ten minutes. Errors: `conflict` if the console is off. */
export async function createLink(gateway: Gateway): Promise<LinkAnswer> {
  if (!gateway.config.console)
    throw new ApiError('conflict', 'The console is off: start the server without CONSOLE=off')
  const { login, expiresAt } = await gateway.operatorSessions.createLogin()
  const alsoAt = plainHttpAddresses(gateway.config).map((address) => linkAt(address, login))
  return {
    url: consoleLink(gateway, login),
    ...(alsoAt.length > 0 && { alsoAt }),
    expiresAt: isoTime(expiresAt),
  }
}

export const consoleLink = ({ config }: Gateway, login: string): string => linkAt(config.publicUrl, login)

/** The login is in the fragment, which browsers send neither to servers nor to proxies. */
const linkAt = (address: string, login: string): string => `${address}/console/#login=${login}`

/** Ends all sessions, closes their sockets and voids all links. */
export async function revokeSessions(gateway: Gateway): Promise<{ revoked: number }> {
  const revoked = await gateway.operatorSessions.revokeAll()
  gateway.hub.revoke({ sessionId: null })
  return { revoked }
}
