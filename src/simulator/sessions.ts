import type { Clock } from '../core/clock.ts'
import { randomText } from './random.ts'

/**
 * Sessions and the rotation of their tokens (RingCentral developer guide, "Refreshing access tokens"). A refresh invalidates the old access
 * token immediately. The old refresh token returns the same new pair until 10 s after the first use of the new access token, so that a client
 * that lost the answer can repeat the refresh.
 */
export class Sessions {
  private readonly sessions = new Set<Session>()
  private readonly byAccess = new Map<string, Session>()
  private readonly byRefresh = new Map<string, Session>()
  private readonly revoked = new Set<string>()

  constructor(private readonly clock: Clock) {}

  /** Opens a session. If an extension and client have more than five, the oldest one ends without notice. */
  open(request: OpenSession): Session {
    const current = this.newPair(request.lifetimes)
    const { sessionSeconds } = request.lifetimes
    const now = this.clock.now()
    const endsAt = sessionSeconds === null ? null : now + sessionSeconds * 1000
    const session: Session = { ...request, id: randomText(9), current, previous: null, endsAt, usedAt: now }
    this.sessions.add(session)
    this.index(session, current)
    this.evictOldest(request)
    return session
  }

  refresh(refreshToken: string, clientId: string): RefreshOutcome {
    const session = this.alive(this.byRefresh.get(refreshToken))
    if (session === undefined) return this.revoked.has(refreshToken) ? 'revoked' : 'unknown'
    if (session.clientId !== clientId) return 'unknown'
    if (session.current.refreshToken === refreshToken) return this.rotate(session)
    return this.inGrace(session) ? session : 'unknown'
  }

  /** A success counts as a use of the token. The first use starts the grace period of the previous pair. */
  checkAccess(accessToken: string): AccessOutcome {
    const session = this.alive(this.byAccess.get(accessToken))
    if (session === undefined) return accessToken.startsWith(TOKEN_PREFIX) ? 'unknown' : 'malformed'
    const { current } = session
    if (current.accessToken !== accessToken) return this.replacedAccess(session)
    if (this.clock.now() >= current.accessExpiresAt) return 'expired'
    current.usedAt ??= this.clock.now()
    session.usedAt = this.clock.now()
    return session
  }

  /** The same for a request over a socket, which has no token of its own. */
  checkOpen(session: Session): AccessOutcome {
    if (!this.isOpen(session)) return 'unknown'
    return this.clock.now() >= session.current.accessExpiresAt ? 'expired' : session
  }

  /** Whether the session has not ended. */
  isOpen(session: Session): boolean {
    return this.sessions.has(session) && this.alive(session) !== undefined
  }

  /** Returns the owner of a token. This does not count as a use of the token. */
  ownerOf(token: string): number | null {
    return this.sessionOf(token)?.extensionId ?? null
  }

  /** Ends the session of an access or refresh token, if there is one. */
  revoke(token: string): void {
    const session = this.sessionOf(token)
    if (session !== undefined) this.end(session)
  }

  /** Ends the session if its own time or its idle time is over. */
  private alive(session: Session | undefined): Session | undefined {
    if (session === undefined) return undefined
    const { endsAt, usedAt, lifetimes } = session
    const idleMs = (lifetimes.sessionIdleSeconds ?? Number.POSITIVE_INFINITY) * 1000
    const now = this.clock.now()
    if ((endsAt === null || now < endsAt) && now - usedAt < idleMs) return session
    this.end(session)
    return undefined
  }

  /** Open sessions, oldest first. */
  list(): Session[] {
    return [...this.sessions]
  }

  end(session: Session): void {
    this.sessions.delete(session)
    this.revoked.add(session.current.refreshToken)
    const oldest = this.revoked.values().next().value
    if (this.revoked.size > MAX_REMEMBERED && oldest !== undefined) this.revoked.delete(oldest)
    this.forget(session.current)
    if (session.previous !== null) this.forget(session.previous)
  }

  private newPair(lifetimes: Lifetimes): TokenPair {
    return {
      accessToken: TOKEN_PREFIX + randomText(48),
      refreshToken: TOKEN_PREFIX + randomText(48),
      accessExpiresAt: this.clock.now() + lifetimes.accessSeconds * 1000,
      refreshExpiresAt: this.clock.now() + lifetimes.refreshSeconds * 1000,
      usedAt: null,
      replacedAt: null,
    }
  }

  private evictOldest({ extensionId, clientId }: OpenSession): void {
    const parallel = this.list().filter((one) => one.extensionId === extensionId && one.clientId === clientId)
    const oldest = parallel[0]
    if (parallel.length > MAX_SESSIONS && oldest !== undefined) this.end(oldest)
  }

  private rotate(session: Session): RefreshOutcome {
    if (this.clock.now() >= session.current.refreshExpiresAt) return 'expired'
    if (session.previous !== null) this.forget(session.previous)
    session.usedAt = this.clock.now()
    session.current.replacedAt = session.usedAt
    session.previous = session.current
    session.current = this.newPair(session.lifetimes)
    this.index(session, session.current)
    return session
  }

  /**
   * Whether the previous pair is still valid: until 10 s after the first use of the current pair, within its own
   * lifetime.
   */
  private inGrace({ current, previous }: Session): boolean {
    if (previous === null || this.clock.now() >= previous.refreshExpiresAt) return false
    return current.usedAt === null || this.clock.now() < current.usedAt + GRACE_MS
  }

  private replacedAccess({ previous }: Session): AccessOutcome {
    const replacedAt = previous?.replacedAt ?? Number.NEGATIVE_INFINITY
    return this.clock.now() < replacedAt + GRACE_MS ? 'corrupted' : 'unknown'
  }

  private sessionOf(token: string): Session | undefined {
    return this.byAccess.get(token) ?? this.byRefresh.get(token)
  }

  private index(session: Session, pair: TokenPair): void {
    this.byAccess.set(pair.accessToken, session)
    this.byRefresh.set(pair.refreshToken, session)
  }

  private forget(pair: TokenPair): void {
    this.byAccess.delete(pair.accessToken)
    this.byRefresh.delete(pair.refreshToken)
  }
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
  /** Of the session, from its login. Null: no end. */
  sessionSeconds: number | null
  /** Of the session, from its last use. Null: no end. */
  sessionIdleSeconds: number | null
}

export interface Session {
  id: string
  extensionId: number
  clientId: string
  endpointId: string
  lifetimes: Lifetimes
  current: TokenPair
  previous: TokenPair | null
  /** Null: it has no end of its own. */
  endsAt: number | null
  /** The last successful use. */
  usedAt: number
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
/** How many refresh tokens of ended sessions are kept, to distinguish "revoked" from "unknown". */
const MAX_REMEMBERED = 10_000
