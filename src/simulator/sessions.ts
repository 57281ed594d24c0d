import type { Clock } from '../core/clock.ts'
import { randomText } from './random.ts'

/**
 * Sessions and the rotation of their tokens (RingCentral developer guide, "Refreshing access tokens").
 * A refresh kills the old access token at once; the old refresh token answers with the same new pair until the new
 * access token has been used, and 10 s beyond that, so that a client which lost the answer can ask again.
 */
export interface Sessions {
  /** Opens a session; the oldest of more than five per extension and client ends silently. */
  open(request: OpenSession): Session
  refresh(refreshToken: string, clientId: string): RefreshOutcome
  checkAccess(accessToken: string): AccessOutcome
  /** Who a token belongs to, without counting as a use of it. */
  ownerOf(token: string): number | null
  /** Ends the session of an access or refresh token; false when there is none. */
  revoke(token: string): boolean
  /** Open sessions, oldest first. */
  list(): Session[]
  end(session: Session): void
}

export interface OpenSession {
  extensionId: number
  clientId: string
  endpointId: string
  lifetimes: Lifetimes
}

export interface Lifetimes {
  accessSeconds: number
  refreshSeconds: number
}

export interface Session {
  id: string
  extensionId: number
  clientId: string
  endpointId: string
  lifetimes: Lifetimes
  current: TokenPair
  previous: TokenPair | null
}

export interface TokenPair {
  accessToken: string
  refreshToken: string
  accessExpiresAt: number
  refreshExpiresAt: number
  /** First successful use of the access token. */
  usedAt: number | null
  /** When a refresh replaced the pair. */
  replacedAt: number | null
}

export type RefreshOutcome = Session | 'unknown' | 'expired' | 'revoked'
export type AccessOutcome = Session | 'malformed' | 'unknown' | 'expired' | 'corrupted'

const MAX_SESSIONS = 5
const GRACE_MS = 10_000
const TOKEN_PREFIX = 'U0pDMTFQMDFQQVMwMXxBQUJ'
/** Ended refresh tokens are remembered, to tell "revoked" from "never seen"; the oldest is forgotten beyond this. */
const MAX_REMEMBERED = 10_000

export function createSessions(clock: Clock): Sessions {
  const sessions = new Set<Session>()
  const byAccess = new Map<string, Session>()
  const byRefresh = new Map<string, Session>()
  const revoked = new Set<string>()

  function open(request: OpenSession): Session {
    const session: Session = { ...request, id: randomText(9), current: newPair(request.lifetimes), previous: null }
    sessions.add(session)
    index(session, session.current)
    evictOldest(request)
    return session
  }

  function newPair(lifetimes: Lifetimes): TokenPair {
    return {
      accessToken: TOKEN_PREFIX + randomText(48),
      refreshToken: TOKEN_PREFIX + randomText(48),
      accessExpiresAt: clock.now() + lifetimes.accessSeconds * 1000,
      refreshExpiresAt: clock.now() + lifetimes.refreshSeconds * 1000,
      usedAt: null,
      replacedAt: null,
    }
  }

  function index(session: Session, pair: TokenPair): void {
    byAccess.set(pair.accessToken, session)
    byRefresh.set(pair.refreshToken, session)
  }

  function forget(pair: TokenPair): void {
    byAccess.delete(pair.accessToken)
    byRefresh.delete(pair.refreshToken)
  }

  function evictOldest({ extensionId, clientId }: OpenSession): void {
    const parallel = [...sessions].filter((one) => one.extensionId === extensionId && one.clientId === clientId)
    const oldest = parallel[0]
    if (parallel.length > MAX_SESSIONS && oldest !== undefined) end(oldest)
  }

  function refresh(refreshToken: string, clientId: string): RefreshOutcome {
    const session = byRefresh.get(refreshToken)
    if (session === undefined) return revoked.has(refreshToken) ? 'revoked' : 'unknown'
    if (session.clientId !== clientId) return 'unknown'
    if (session.current.refreshToken === refreshToken) return rotate(session)
    return inGrace(session) ? session : 'unknown'
  }

  function rotate(session: Session): RefreshOutcome {
    if (clock.now() >= session.current.refreshExpiresAt) return 'expired'
    if (session.previous !== null) forget(session.previous)
    session.current.replacedAt = clock.now()
    session.previous = session.current
    session.current = newPair(session.lifetimes)
    index(session, session.current)
    return session
  }

  /** The replaced pair: good until its successor is used, then 10 s more, and never beyond its own lifetime. */
  function inGrace({ current, previous }: Session): boolean {
    if (previous === null || clock.now() >= previous.refreshExpiresAt) return false
    return current.usedAt === null || clock.now() < current.usedAt + GRACE_MS
  }

  function checkAccess(accessToken: string): AccessOutcome {
    const session = byAccess.get(accessToken)
    if (session === undefined) return accessToken.startsWith(TOKEN_PREFIX) ? 'unknown' : 'malformed'
    const { current } = session
    if (current.accessToken !== accessToken) return replacedAccess(session)
    if (clock.now() >= current.accessExpiresAt) return 'expired'
    current.usedAt ??= clock.now()
    return session
  }

  function replacedAccess({ previous }: Session): AccessOutcome {
    const replacedAt = previous?.replacedAt ?? Number.NEGATIVE_INFINITY
    return clock.now() < replacedAt + GRACE_MS ? 'corrupted' : 'unknown'
  }

  function revoke(token: string): boolean {
    const session = byAccess.get(token) ?? byRefresh.get(token)
    if (session !== undefined) end(session)
    return session !== undefined
  }

  function end(session: Session): void {
    sessions.delete(session)
    revoked.add(session.current.refreshToken)
    const oldest = revoked.values().next().value
    if (revoked.size > MAX_REMEMBERED && oldest !== undefined) revoked.delete(oldest)
    forget(session.current)
    if (session.previous !== null) forget(session.previous)
  }

  return {
    open,
    refresh,
    checkAccess,
    ownerOf: (token) => (byAccess.get(token) ?? byRefresh.get(token))?.extensionId ?? null,
    revoke,
    list: () => [...sessions],
    end,
  }
}
