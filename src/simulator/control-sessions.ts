import type { ProviderChanges } from '../core/provider-changes.ts'
import {
  checked,
  DeletedJwtShape,
  DenialShape,
  ExpiryShape,
  JwtShape,
  OwnerShape,
  PerhapsOwnerShape,
} from './arguments.ts'
import { findExtension } from './control-extensions.ts'
import type { Session } from './sessions.ts'
import type { World } from './world.ts'

/** The control knobs for logins and tokens. */
export interface SessionKnobs extends Pick<ProviderChanges, 'addJwt' | 'removeJwt'> {
  /**
   * Sets the extension that logs in at the next authorize request, with priority over `login_hint`. Several calls queue
   * up.
   */
  nextLogin(login: { extensionId: string }): void
  /** The next `calls` (default 1) authorize requests answer `access_denied`. */
  denyNextLogin(denial?: { calls?: number }): void
  sessions(filter?: { extensionId?: string }): SessionView[]
  /** Ends the sessions of an extension. Returns their number. */
  revokeTokens(owner: { extensionId: string }): { ended: number }
  /** Makes tokens expire now. Default `access`. */
  expireTokens(owner: { extensionId: string; which?: 'access' | 'refresh' | 'both' }): { expired: number }
}

export interface SessionView {
  extensionId: string
  sessionId: string
  accessToken: string
  refreshToken: string
  accessExpiresAt: number
  refreshExpiresAt: number
  /** Whether the current access token has been used. */
  used: boolean
}

export function sessionKnobs(world: World): SessionKnobs {
  const { sessions, jwts, logins, clock } = world

  const sessionsOf = (extensionId: string | undefined): Session[] =>
    sessions.list().filter((one) => extensionId === undefined || String(one.extensionId) === extensionId)

  return {
    nextLogin: (login) => void logins.push(findExtension(world, checked(OwnerShape, login).extensionId).id),
    denyNextLogin: (denial = {}) =>
      void logins.push(...Array<'deny'>(checked(DenialShape, denial).calls ?? 1).fill('deny')),
    addJwt(credential) {
      const { extensionId, clientId, expiresInSeconds } = checked(JwtShape, credential)
      const { id } = findExtension(world, extensionId)
      const expiresAt = expiresInSeconds === undefined ? null : clock.now() + expiresInSeconds * 1000
      return { jwt: jwts.add({ extensionId: id, clientId: clientId ?? null, expiresAt }) }
    },
    removeJwt(credential) {
      if (!jwts.remove(checked(DeletedJwtShape, credential).jwt)) throw new Error('Unknown JWT')
      return { removed: 1 }
    },
    sessions: (filter = {}) => sessionsOf(checked(PerhapsOwnerShape, filter).extensionId).map(sessionView),
    revokeTokens(owner) {
      const open = sessionsOf(checked(OwnerShape, owner).extensionId)
      for (const session of open) sessions.end(session)
      return { ended: open.length }
    },
    expireTokens(expiry) {
      const { extensionId, which = 'access' } = checked(ExpiryShape, expiry)
      const open = sessionsOf(extensionId)
      for (const { current } of open) {
        if (which !== 'refresh') current.accessExpiresAt = clock.now()
        if (which !== 'access') current.refreshExpiresAt = clock.now()
      }
      return { expired: open.length }
    },
  }
}

const sessionView = ({ id, extensionId, current }: Session): SessionView => ({
  extensionId: String(extensionId),
  sessionId: id,
  accessToken: current.accessToken,
  refreshToken: current.refreshToken,
  accessExpiresAt: current.accessExpiresAt,
  refreshExpiresAt: current.refreshExpiresAt,
  used: current.usedAt !== null,
})
