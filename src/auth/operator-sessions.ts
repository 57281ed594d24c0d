import { type SQL, and, desc, eq, exists, gt, inArray, lt, lte, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import {
  DAY_MS,
  MAX_CACHED_KEYS,
  MAX_OPERATOR_SESSIONS,
  OPERATOR_LINK_TTL_MS,
  OPERATOR_SESSION_TTL_MS,
} from '../core/limits.ts'
import { type Secrets, sameSecret, sha256Hex } from '../core/secrets.ts'
import type { Orm } from '../db/orm.ts'
import { operatorLinks, operatorSessions } from '../db/schema/operator.ts'

export interface OperatorSession {
  sessionId: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** A new session; the token is shown once. */
export interface OpenedSession extends OperatorSession {
  token: string
  /** The ids of the oldest sessions, which this one ended because there were too many. */
  ended: string[]
}

type NewSession = Omit<OpenedSession, 'ended'>

export interface OperatorSessionsContext {
  orm: Orm
  secrets: Secrets
  clock: Clock
  ids: Ids
}

const TOKEN_PREFIX = 'sgw_op_'
const TOKEN_LENGTH = TOKEN_PREFIX.length + 43

/** After a restore: the backup may be older than the end of a session or a link. */
export async function forgetOperators(orm: Orm): Promise<void> {
  await orm.batch([orm.delete(operatorSessions), orm.delete(operatorLinks)])
}

/** Whether a credential has the form of an operator's token. An API key may begin the same, but is shorter. */
export const isOperatorToken = (credential: string): boolean =>
  credential.length === TOKEN_LENGTH && credential.startsWith(TOKEN_PREFIX)

/**
 * The sessions of operators, and the links that open them. The database stores HMACs of tokens and logins. Ended sessions keep their rows for
 * a day, so that an open page with an old token does not look like somebody guessing tokens.
 */
export class OperatorSessions {
  readonly #known = new LRUCache<string, OperatorSession>(bounded(MAX_CACHED_KEYS))
  #generation = 0
  /** The login in the link that a development start prints. */
  #developmentLogin: string | null = null

  constructor(readonly context: OperatorSessionsContext) {}

  /** The session of this token, even if it has ended; null if there has never been one. */
  async find(token: string): Promise<OperatorSession | null> {
    const name = sha256Hex(token)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const generation = this.#generation
    const { orm, secrets } = this.context
    const { id, tokenHash, expiresAt } = operatorSessions
    const [session] = await orm
      .select({ sessionId: id, expiresAt })
      .from(operatorSessions)
      .where(inArray(tokenHash, secrets.hashes(token)))
    if (session === undefined) return null
    if (generation === this.#generation) this.#known.set(name, session)
    return session
  }

  isLive({ expiresAt }: OperatorSession): boolean {
    return expiresAt > this.context.clock.now()
  }

  /** Makes a login that opens one session within ten minutes. */
  async createLogin(): Promise<{ login: string; expiresAt: number }> {
    const { orm, secrets, clock } = this.context
    const login = this.#newLogin()
    const now = clock.now()
    const expiresAt = now + OPERATOR_LINK_TTL_MS
    await orm.batch([
      orm.delete(operatorLinks).where(lte(operatorLinks.expiresAt, now)),
      orm.insert(operatorLinks).values({ loginHash: secrets.hash(login), expiresAt }),
    ])
    return { login, expiresAt }
  }

  /** Makes the login that opens any number of sessions from this machine until the process ends or `revokeAll` is called. */
  createDevelopmentLogin(): string {
    return (this.#developmentLogin = this.#newLogin())
  }

  isDevelopmentLogin(login: string): boolean {
    return this.#developmentLogin !== null && sameSecret(login, this.#developmentLogin)
  }

  /** Opens a session without a login. The caller has proved to be the operator. */
  async open(): Promise<OpenedSession> {
    const { orm } = this.context
    const session = this.#newSession()
    const [, ended] = await orm.batch([
      orm.insert(operatorSessions).values(this.#rowOf(session)),
      this.#endOldest(session),
      this.#deleteOld(),
    ])
    return this.#opened(session, ended)
  }

  /** Opens a session with a login that was not used yet, and deletes the login; null if there is no such login. */
  async openWith(login: string): Promise<OpenedSession | null> {
    const { orm, secrets } = this.context
    const session = this.#newSession()
    const isOfLogin = inArray(operatorLinks.loginHash, secrets.hashes(login))
    const [opened, ended] = await orm.batch([
      this.#insertFor(session, isOfLogin),
      this.#endOldest(session),
      orm.delete(operatorLinks).where(isOfLogin),
      this.#deleteOld(),
    ])
    return opened.length === 1 ? this.#opened(session, ended) : null
  }

  async end(sessionId: string): Promise<void> {
    const { orm, clock } = this.context
    const { id, expiresAt } = operatorSessions
    await orm
      .update(operatorSessions)
      .set({ expiresAt: sql`min(${expiresAt}, ${clock.now()})` })
      .where(eq(id, sessionId))
    this.#forget()
  }

  /** Ends all sessions and voids all links. Returns how many there were. */
  async revokeAll(): Promise<number> {
    const { orm, clock } = this.context
    const now = clock.now()
    const { id, expiresAt } = operatorSessions
    const [sessions, links] = await orm.batch([
      orm.update(operatorSessions).set({ expiresAt: now }).where(gt(expiresAt, now)).returning({ id }),
      orm.delete(operatorLinks).returning({ expiresAt: operatorLinks.expiresAt }),
    ])
    this.#forget()
    const development = this.#developmentLogin === null ? 0 : 1
    this.#developmentLogin = null
    return sessions.length + links.filter((link) => link.expiresAt > now).length + development
  }

  #forget(): void {
    this.#generation++
    this.#known.clear()
  }

  #newLogin(): string {
    return `sgwlogin_${this.context.ids.secret()}`
  }

  #opened(session: NewSession, ended: readonly { id: string }[]): OpenedSession {
    if (ended.length > 0) this.#forget()
    return { ...session, ended: ended.map(({ id }) => id) }
  }

  #newSession(): NewSession {
    const { ids, clock } = this.context
    const expiresAt = clock.now() + OPERATOR_SESSION_TTL_MS
    return { sessionId: ids.of('ses'), token: `${TOKEN_PREFIX}${ids.secret()}`, expiresAt }
  }

  #rowOf({ sessionId, token, expiresAt }: NewSession): typeof operatorSessions.$inferInsert {
    const { secrets, clock } = this.context
    return { id: sessionId, tokenHash: secrets.hash(token), createdAt: clock.now(), expiresAt }
  }

  /** Inserts the session if there is a live link of the login: one statement checks and writes. */
  #insertFor(session: NewSession, isOfLogin: SQL) {
    const { orm, clock } = this.context
    const { id, tokenHash, createdAt, expiresAt } = this.#rowOf(session)
    return orm.values(
      sql`INSERT INTO operator_sessions (id, token_hash, created_at, expires_at)
        SELECT ${id}, ${tokenHash}, ${createdAt}, ${expiresAt}
        WHERE EXISTS (SELECT 1 FROM operator_links WHERE ${isOfLogin} AND ${gt(operatorLinks.expiresAt, clock.now())})
        RETURNING id`,
    )
  }

  /** Ends the live sessions beyond the limit if this one was opened. Row numbers follow the order of arrival, whatever the clock says. */
  #endOldest({ sessionId }: NewSession) {
    const { orm, clock } = this.context
    const { id, expiresAt } = operatorSessions
    const now = clock.now()
    const isLive = gt(expiresAt, now)
    // If there are not too many sessions, there is none, and nothing ends.
    const oldestToStay = orm
      .select({ rowid: ROWID })
      .from(operatorSessions)
      .where(isLive)
      .orderBy(desc(ROWID))
      .limit(1)
      .offset(MAX_OPERATOR_SESSIONS - 1)
    const isOpened = exists(orm.select({ id }).from(operatorSessions).where(eq(id, sessionId)))
    return orm
      .update(operatorSessions)
      .set({ expiresAt: now })
      .where(and(isLive, lt(ROWID, oldestToStay), isOpened))
      .returning({ id })
  }

  #deleteOld() {
    const { orm, clock } = this.context
    return orm.delete(operatorSessions).where(lt(operatorSessions.expiresAt, clock.now() - DAY_MS))
  }
}

const ROWID = sql`rowid`
