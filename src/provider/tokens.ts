import type { Clock } from '../core/clock.ts'
import { REFRESH_RETRY_FIRST_MS } from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Orm } from '../db/orm.ts'
import type { Directory, ExtensionRow } from './directory.ts'
import {
  type ExtensionKey,
  type FreshPair,
  nameOf,
  noteRefreshFailure,
  replacePair,
  replaceEncryption,
} from './extension-rows.ts'
import { DecryptedTokens } from './decrypted-tokens.ts'
import { type NewPairContext, newPair } from './new-pair.ts'
import type { Provider } from './provider.ts'
import { RefreshRetries } from './refresh-retries.ts'
import {
  logRefreshFailure,
  logRevoked,
  isTokenUsable,
  meansRevoked,
  msUntilRefresh,
  refreshDelayMs,
} from './refresh-policy.ts'
import { type RefreshRefusal, decodeRefreshRefusal, encodeRefreshRefusal } from './stored-refusals.ts'
import { countStale, encryptPair, encryptedAgain } from './stored-credentials.ts'

/** `gone`: disconnected or revoked; a person must authorize it again. `deferred`: a refresh failed and will be tried again. */
export type TokenResult =
  | { type: 'token'; accessToken: string }
  | { type: 'gone' }
  | { type: 'deferred'; retryInMs: number }

export interface TokensContext extends NewPairContext {
  provider: Provider
  directory: Directory
  orm: Orm
  secrets: Secrets
  clock: Clock
  log: Log
  /** Resolves when the replica, if there is one, has everything that is committed. */
  untilStored(): Promise<void>
  /** Called after an extension's state changed. */
  changed(key: ExtensionKey): void
}

type Changed = { extensionId: string }[]

/** Access tokens of the connected extensions: decrypted once, refreshed one at a time, committed before their first use. */
export class Tokens {
  /** Called when an extension has tokens again after a failed refresh. */
  restored: (key: ExtensionKey) => void = () => undefined
  readonly #decrypted: DecryptedTokens
  readonly #refreshing = new Map<string, Promise<TokenResult>>()
  readonly #reencrypting = new Map<string, Promise<void>>()
  readonly #retries: RefreshRetries
  /** Pairs whose commit failed, even if the database has them. Kept until a commit succeeds: the provider returns the same pair for only an hour. */
  readonly #uncommitted = new Map<string, FreshPair>()
  /** Access tokens that the provider has refused: a failing refresh must not leave them in use. */
  readonly #rejected = new Map<string, string>()

  constructor(readonly context: TokensContext) {
    this.#decrypted = new DecryptedTokens(context)
    this.#retries = new RefreshRetries({ ...context, refresh: (key) => this.refresh(key) })
  }

  /** A token that is not about to expire. Refreshed if necessary, but not twice within 10 s. */
  async access(key: ExtensionKey): Promise<TokenResult> {
    const row = await this.context.directory.extension(key.tenantId, key.extensionId)
    if (row === null || row.status === 'revoked') return { type: 'gone' }
    const now = this.context.clock.now()
    if (isTokenUsable(row, this.context)) return { type: 'token', accessToken: await this.#decrypted.decrypt(row) }
    const retryInMs = this.isRefreshing(key) ? 0 : msUntilRefresh(row, now)
    if (retryInMs === 0) return this.refresh(key)
    // A failed refresh has planned the next one.
    if (row.status === 'active') this.planRetry(key, retryInMs)
    return { type: 'deferred', retryInMs }
  }

  /** Like `access`, from memory only; null if the token would have to be read, decrypted or refreshed. */
  known(key: ExtensionKey): TokenResult | null {
    const row = this.context.directory.known(key.tenantId)?.extensions.get(key.extensionId)
    if (row === undefined || !isTokenUsable(row, this.context)) return null
    const accessToken = this.#decrypted.known(row)
    return accessToken === null ? null : { type: 'token', accessToken }
  }

  /** After a 401: a different token from `rejected`, refreshed only if `rejected` is still the stored one. */
  async renew(key: ExtensionKey, rejected: string): Promise<TokenResult> {
    await this.#refreshing.get(nameOf(key))
    const current = await this.access(key)
    if (current.type !== 'token' || current.accessToken !== rejected) return current
    this.#rejected.set(nameOf(key), rejected)
    return this.refresh(key)
  }

  /** Refreshes now. Calls made while a refresh runs share it. */
  refresh(key: ExtensionKey): Promise<TokenResult> {
    const name = nameOf(key)
    const running = this.#refreshing.get(name)
    if (running !== undefined) return running
    const refresh = this.#afterReencryption(name, () => this.#refresh(key)).finally(() => this.#refreshing.delete(name))
    this.#refreshing.set(name, refresh)
    return refresh
  }

  /** Whether getting a token would wait for the provider now. */
  isRefreshing(key: ExtensionKey): boolean {
    return this.#refreshing.has(nameOf(key))
  }

  /** Plans the next refresh of an extension whose refresh failed. The start calls this for failures of the earlier process. */
  planRetry(key: ExtensionKey, delayMs: number): void {
    this.#retries.plan(key, delayMs)
  }

  /** Resolves when no refresh runs anymore and none is planned. */
  async stop(): Promise<void> {
    this.#retries.cancelAll()
    await Promise.allSettled(this.#refreshing.values())
    // A refresh that failed meanwhile has planned the next one.
    this.#retries.cancelAll()
  }

  /**
   * Encrypts the stored credentials with the newest key; returns how many were re-encrypted. A refresh cannot be repeated, and its result
   * replaces only the pair that it refreshed. So this waits for a running refresh, and a later refresh waits for this.
   */
  async reencrypt(key: ExtensionKey): Promise<number> {
    const name = nameOf(key)
    const underWay = (): Promise<unknown> | undefined => this.#refreshing.get(name) ?? this.#reencrypting.get(name)
    for (let run = underWay(); run !== undefined; run = underWay()) await run.catch(() => undefined)
    const reencrypted = this.#reencrypt(key)
    const done = Promise.allSettled([reencrypted]).then(() => void this.#reencrypting.delete(name))
    this.#reencrypting.set(name, done)
    await done
    return reencrypted
  }

  async #afterReencryption(name: string, run: () => Promise<TokenResult>): Promise<TokenResult> {
    await this.#reencrypting.get(name)
    return run()
  }

  async #reencrypt(key: ExtensionKey): Promise<number> {
    const { directory, secrets } = this.context
    directory.forget(key.tenantId)
    const row = await directory.extension(key.tenantId, key.extensionId)
    if (row === null) return 0
    const stale = countStale(secrets, row)
    if (stale === 0) return 0
    const change = replaceEncryption(this.context.orm, row, row.refreshToken, await encryptedAgain(secrets, row))
    return (await this.#commit(row, change, null)).length === 0 ? 0 : stale
  }

  async #refresh(key: ExtensionKey): Promise<TokenResult> {
    const row = await this.context.directory.extension(key.tenantId, key.extensionId)
    if (row === null || row.status === 'revoked') return { type: 'gone' }
    const kept = this.#uncommitted.get(nameOf(row))
    if (kept !== undefined && [kept.replaces, kept.encrypted.refreshToken].includes(row.refreshToken))
      return this.#store(row, kept)
    // A pair that could not be stored must not be requested, and an unstored pair must not be replaced.
    await this.context.untilStored()
    const opened = await newPair(this.context, row)
    if (opened.ok) {
      const encrypted = await encryptPair(this.context.secrets, row, opened.value, this.context.clock.now())
      const fresh = { encrypted, endsFailure: row.status === 'refresh_failed' }
      return this.#store(row, { ...fresh, replaces: row.refreshToken, accessToken: opened.value.accessToken })
    }
    return meansRevoked(opened.failure) ? this.#revoked(row, opened) : this.#failed(row, opened)
  }

  /** Commits the new pair before its first use, and retries if it was not stored: until then the provider still accepts the old refresh token. */
  async #store(row: ExtensionRow, fresh: FreshPair): Promise<TokenResult> {
    const { encrypted, accessToken } = fresh
    this.#uncommitted.set(nameOf(row), fresh)
    const change = replacePair(this.context.orm, row, row.refreshToken, encrypted)
    const stored = await this.#commit(row, change, REFRESH_RETRY_FIRST_MS)
    this.#uncommitted.delete(nameOf(row))
    this.#rejected.delete(nameOf(row))
    this.#retries.cancel(row)
    if (stored.length === 0) return this.access(row)
    this.#decrypted.keep(row, encrypted.accessToken, accessToken)
    if (fresh.endsFailure) this.restored({ tenantId: row.tenantId, extensionId: row.extensionId })
    return { type: 'token', accessToken }
  }

  async #revoked(row: ExtensionRow, refused: RefreshRefusal): Promise<TokenResult> {
    const now = this.context.clock.now()
    const { accessExpiresAt } = row
    const change = {
      status: 'revoked',
      failures: row.refreshFailures,
      nextRefreshAt: null,
      accessExpiresAt,
      refusal: encodeRefreshRefusal(refused),
      now,
    } as const
    const noted = await this.#commit(row, noteRefreshFailure(this.context.orm, row, row.refreshToken, change), null)
    if (noted.length === 0) return this.access(row)
    logRevoked(this.context.log, row, refused.failure.code ?? 'invalid_grant')
    return { type: 'gone' }
  }

  async #failed(row: ExtensionRow, { step, failure }: RefreshRefusal): Promise<TokenResult> {
    const failures = row.refreshFailures + 1
    const delayMs = Math.max(refreshDelayMs(failures), failure.retryAfterMs ?? 0)
    const now = this.context.clock.now()
    const isRejected = this.#rejected.get(nameOf(row)) === this.#decrypted.known(row)
    const accessExpiresAt = isRejected ? Math.min(row.accessExpiresAt, now) : row.accessExpiresAt
    const nextRefreshAt = now + delayMs
    const refusal = tellingRefusal(row, { step, failure })
    const change = { status: 'refresh_failed', failures, nextRefreshAt, accessExpiresAt, refusal, now } as const
    const note = noteRefreshFailure(this.context.orm, row, row.refreshToken, change)
    const noted = await this.#commit(row, note, delayMs)
    if (noted.length === 0) return this.access(row)
    logRefreshFailure(this.context.log, row, { step, failure, delayMs })
    this.planRetry(row, delayMs)
    if (!isTokenUsable({ ...row, ...change }, this.context)) return { type: 'deferred', retryInMs: delayMs }
    return { type: 'token', accessToken: await this.#decrypted.decrypt(row) }
  }

  /** `retryInMs`: when to refresh again if the commit fails. The commit may have succeeded after all, and nothing else plans a refresh. */
  async #commit(key: ExtensionKey, change: Promise<Changed>, retryInMs: number | null): Promise<Changed> {
    const { directory, changed } = this.context
    const stored = await change
      .catch((error: unknown) => {
        if (retryInMs !== null) this.planRetry(key, retryInMs)
        throw error
      })
      // Also after a failure: a disk can fail after the commit, and the old pair must not be used again.
      .finally(() => directory.forget(key.tenantId))
    // Not after a failure: listeners would retry immediately, which would fail and be announced again.
    changed({ tenantId: key.tenantId, extensionId: key.extensionId })
    return stored
  }
}

/** A wait says less than the refusal before it: RingCentral did not examine the call. */
function tellingRefusal({ status, refreshRefusal }: ExtensionRow, refused: RefreshRefusal): string {
  const before = status === 'refresh_failed' ? decodeRefreshRefusal(refreshRefusal) : null
  return encodeRefreshRefusal(refused.failure.reason === 'rate_limited' && before !== null ? before : refused)
}
