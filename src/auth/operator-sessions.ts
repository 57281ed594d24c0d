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
import type { Result } from '../db/connection.ts'
import type { Gate } from '../db/gate.ts'
import type { Statement, Writer } from '../db/writer.ts'

export interface OperatorSession {
  sessionId: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** A new session; the token is shown once. */
export interface OpenedSession extends OperatorSession {
  token: string
  /** The ids of the oldest sessions, which this one has ended because there were too many. */
  ended: string[]
}

type NewSession = Omit<OpenedSession, 'ended'>

export interface OperatorSessionsContext {
  gate: Gate
  writer: Writer
  secrets: Secrets
  clock: Clock
  ids: Ids
}

const TOKEN_PREFIX = 'sgw_op_'
const TOKEN_LENGTH = TOKEN_PREFIX.length + 43

/** After a restore: the backup may be older than the end of a session or a link. */
export const FORGET_OPERATORS: Statement[] = [
  { sql: 'DELETE FROM operator_sessions', args: [] },
  { sql: 'DELETE FROM operator_links', args: [] },
]

/** Whether a credential has the form of an operator's token. An API key may begin alike, but is shorter. */
export const isOperatorToken = (credential: string): boolean =>
  credential.length === TOKEN_LENGTH && credential.startsWith(TOKEN_PREFIX)

/**
 * The sessions of operators, and the links that open them. The database stores HMACs of tokens and logins. Ended sessions
 * keep their rows for a day, so that an open page with an old token does not count as somebody who guesses tokens.
 */
export class OperatorSessions {
  readonly #known = new LRUCache<string, OperatorSession>(bounded(MAX_CACHED_KEYS))
  #generation = 0
  /** The login of the link that a start in development prints. */
  #developmentLogin: string | null = null

  constructor(readonly context: OperatorSessionsContext) {}

  /** The session of this token, also one that has ended; null if there has never been one. */
  async find(token: string): Promise<OperatorSession | null> {
    const name = sha256Hex(token)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const generation = this.#generation
    const { gate, secrets } = this.context
    const { rows } = await gate.execute({
      sql: 'SELECT id, expires_at FROM operator_sessions WHERE token_hash IN (SELECT value FROM json_each(?1))',
      args: [JSON.stringify(secrets.hashes(token))],
    })
    const [row] = rows
    if (row === undefined) return null
    const session = { sessionId: String(row['id']), expiresAt: Number(row['expires_at']) }
    if (generation === this.#generation) this.#known.set(name, session)
    return session
  }

  isLive({ expiresAt }: OperatorSession): boolean {
    return expiresAt > this.context.clock.now()
  }

  /** Makes a login that opens one session within ten minutes. */
  async createLogin(): Promise<{ login: string; expiresAt: number }> {
    const { writer, secrets, clock } = this.context
    const login = this.#newLogin()
    const now = clock.now()
    const expiresAt = now + OPERATOR_LINK_TTL_MS
    await writer.write([
      { sql: 'DELETE FROM operator_links WHERE expires_at <= ?1', args: [now] },
      {
        sql: 'INSERT INTO operator_links (login_hash, expires_at) VALUES (?1, ?2)',
        args: [secrets.hash(login), expiresAt],
      },
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
    const session = this.#newSession()
    const [, ended] = await this.context.writer.write([
      this.#insert(session, 'SELECT 1'),
      this.#endOldest(session),
      this.#deleteOld(),
    ])
    return this.#opened(session, ended)
  }

  /** Opens a session with a login that was not used yet, and deletes the login; null if there is no such login. */
  async openWith(login: string): Promise<OpenedSession | null> {
    const { writer, secrets, clock } = this.context
    const session = this.#newSession()
    const hashes = JSON.stringify(secrets.hashes(login))
    const ofLogin = 'login_hash IN (SELECT value FROM json_each(?5))'
    const [opened, ended] = await writer.write([
      this.#insert(session, `SELECT 1 FROM operator_links WHERE ${ofLogin} AND expires_at > ?6`, [hashes, clock.now()]),
      this.#endOldest(session),
      { sql: 'DELETE FROM operator_links WHERE login_hash IN (SELECT value FROM json_each(?1))', args: [hashes] },
      this.#deleteOld(),
    ])
    return opened?.rows.length === 1 ? this.#opened(session, ended) : null
  }

  async end(sessionId: string): Promise<void> {
    await this.context.writer.write([
      {
        sql: 'UPDATE operator_sessions SET expires_at = min(expires_at, ?2) WHERE id = ?1',
        args: [sessionId, this.context.clock.now()],
      },
    ])
    this.#forget()
  }

  /** Ends all sessions and voids all links. Returns how many there were. */
  async revokeAll(): Promise<number> {
    const now = this.context.clock.now()
    const [sessions, links] = await this.context.writer.write([
      { sql: 'UPDATE operator_sessions SET expires_at = ?1 WHERE expires_at > ?1 RETURNING id', args: [now] },
      { sql: 'DELETE FROM operator_links RETURNING expires_at > ?1 AS live', args: [now] },
    ])
    this.#forget()
    const development = this.#developmentLogin === null ? 0 : 1
    this.#developmentLogin = null
    const live = links?.rows.filter((row) => Number(row['live']) === 1).length ?? 0
    return (sessions?.rows.length ?? 0) + live + development
  }

  #forget(): void {
    this.#generation++
    this.#known.clear()
  }

  #newLogin(): string {
    return `sgwlogin_${this.context.ids.secret()}`
  }

  #opened(session: NewSession, ended: Result | undefined): OpenedSession {
    const ids = ended?.rows.map(({ id }) => String(id)) ?? []
    if (ids.length > 0) this.#forget()
    return { ...session, ended: ids }
  }

  #newSession(): NewSession {
    const { ids, clock } = this.context
    const expiresAt = clock.now() + OPERATOR_SESSION_TTL_MS
    return { sessionId: ids.of('ses'), token: `${TOKEN_PREFIX}${ids.secret()}`, expiresAt }
  }

  #insert({ sessionId, token, expiresAt }: NewSession, condition: string, args: (string | number)[] = []): Statement {
    const { secrets, clock } = this.context
    return {
      sql: `INSERT INTO operator_sessions (id, token_hash, created_at, expires_at)
        SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (${condition}) RETURNING id`,
      args: [sessionId, secrets.hash(token), clock.now(), expiresAt, ...args],
    }
  }

  /** Ends the live sessions beyond the limit if this one was opened. Rows are numbered as they come, whatever the clock says. */
  #endOldest({ sessionId }: NewSession): Statement {
    return {
      sql: `UPDATE operator_sessions SET expires_at = ?1 WHERE rowid IN (SELECT live.rowid
        FROM operator_sessions AS opened, operator_sessions AS live WHERE opened.id = ?2 AND live.expires_at > ?1
        ORDER BY live.rowid DESC LIMIT -1 OFFSET ?3) RETURNING id`,
      args: [this.context.clock.now(), sessionId, MAX_OPERATOR_SESSIONS],
    }
  }

  #deleteOld(): Statement {
    return {
      sql: 'DELETE FROM operator_sessions WHERE expires_at < ?1',
      args: [this.context.clock.now() - DAY_MS],
    }
  }
}
