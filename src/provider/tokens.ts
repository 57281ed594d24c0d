import type { Clock } from '../core/clock.ts'
import { REFRESH_RETRY_MAX_MS, REFRESH_RETRY_MIN_MS, TOKEN_FRESH_MS } from '../core/limits.ts'
import { type Log, errorName } from '../core/log.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Writer } from '../db/writer.ts'
import type { Directory, ExtensionRow } from './directory.ts'
import { type ExtensionKey, type SealedPair, noteRefreshFailure, replacePair, replaceSeals } from './extension-rows.ts'
import { OpenedTokens, nameOf, sealContext } from './opened-tokens.ts'
import type { Provider, ProviderFailure, TokenPair } from './provider.ts'
import { meansRevoked, refreshDelayMs } from './refresh-policy.ts'

/** `gone`: disconnected or revoked, a person must act. `waiting`: a refresh failed and is tried again. */
export type TokenResult =
  | { type: 'token'; accessToken: string }
  | { type: 'gone' }
  | { type: 'waiting'; retryInMs: number }

export interface TokensContext {
  provider: Provider
  directory: Directory
  writer: Writer
  secrets: Secrets
  clock: Clock
  log: Log
  /** Called after an extension's state changed. */
  changed(key: ExtensionKey): void
}

/** A pair that the provider has given out, sealed for its row. */
interface FreshPair {
  /** The sealed refresh token that it replaces. */
  replaces: string
  sealed: SealedPair
  accessToken: string
}

/** Access tokens of the connected extensions: opened once, refreshed one at a time, committed before their first use. */
export class Tokens {
  readonly #opened: OpenedTokens
  readonly #refreshing = new Map<string, Promise<TokenResult>>()
  readonly #resealing = new Map<string, Promise<void>>()
  readonly #retries = new Map<string, () => void>()
  /** Pairs whose commit failed: the provider repeats one for an hour only, so they are kept until the disk takes them. */
  readonly #uncommitted = new Map<string, FreshPair>()

  constructor(readonly context: TokensContext) {
    this.#opened = new OpenedTokens(context.secrets)
  }

  /** A token that is good for a while yet. */
  async access(key: ExtensionKey): Promise<TokenResult> {
    const row = await this.context.directory.extension(key.tenantId, key.extensionId)
    if (row === null || row.status === 'revoked') return { type: 'gone' }
    if (row.status === 'refresh_failed') return this.#waiting(row)
    if (row.accessExpiresAt - this.context.clock.now() <= TOKEN_FRESH_MS) return this.refresh(key)
    return { type: 'token', accessToken: await this.#opened.open(row) }
  }

  /** The same where nothing must be read, opened or refreshed for it; otherwise null. */
  known(key: ExtensionKey): TokenResult | null {
    const row = this.context.directory.known(key.tenantId)?.extensions.get(key.extensionId)
    if (row?.status !== 'active' || row.accessExpiresAt - this.context.clock.now() <= TOKEN_FRESH_MS) return null
    const accessToken = this.#opened.known(row)
    return accessToken === null ? null : { type: 'token', accessToken }
  }

  /** After a 401: a newer token than `rejected`, refreshed only if `rejected` is still the stored one. */
  async renew(key: ExtensionKey, rejected: string): Promise<TokenResult> {
    await this.#refreshing.get(nameOf(key))
    const current = await this.access(key)
    return current.type === 'token' && current.accessToken === rejected ? this.refresh(key) : current
  }

  /** Refreshes now; calls that come meanwhile share the one refresh. */
  refresh(key: ExtensionKey): Promise<TokenResult> {
    const name = nameOf(key)
    const running = this.#refreshing.get(name)
    if (running !== undefined) return running
    const refresh = this.#afterReseal(name, () => this.#refresh(key)).finally(() => this.#refreshing.delete(name))
    this.#refreshing.set(name, refresh)
    return refresh
  }

  /** Whoever asks now would wait for the provider. */
  isRefreshing(key: ExtensionKey): boolean {
    return this.#refreshing.has(nameOf(key))
  }

  /** Plans the next try of an extension whose refresh failed; also called at the start, for those of before. */
  planRetry(row: Pick<ExtensionRow, 'tenantId' | 'extensionId' | 'nextRefreshAt'>): void {
    const { clock, log } = this.context
    const name = nameOf(row)
    this.#retries.get(name)?.()
    const delayMs = Math.min(Math.max(0, (row.nextRefreshAt ?? 0) - clock.now()), REFRESH_RETRY_MAX_MS)
    const cancel = clock.after(delayMs, () => {
      this.#retries.delete(name)
      this.refresh(row).catch((error: unknown) => {
        log.error({ extensionId: row.extensionId, error: errorName(error) }, 'token refresh could not be tried')
        this.planRetry({ ...row, nextRefreshAt: clock.now() + REFRESH_RETRY_MIN_MS })
      })
    })
    this.#retries.set(name, cancel)
  }

  /** Settles when no refresh runs any more; plans none. */
  async stop(): Promise<void> {
    for (const cancel of this.#retries.values()) cancel()
    this.#retries.clear()
    await Promise.allSettled(this.#refreshing.values())
  }

  /** Seals a pair for its row. */
  async seal(key: ExtensionKey, pair: TokenPair): Promise<SealedPair> {
    const now = this.context.clock.now()
    return {
      accessToken: await this.context.secrets.seal(pair.accessToken, sealContext(key, 'rc_access')),
      accessExpiresAt: now + pair.expiresInSeconds * 1000,
      refreshToken: await this.context.secrets.seal(pair.refreshToken, sealContext(key, 'rc_refresh')),
      refreshExpiresAt: now + pair.refreshExpiresInSeconds * 1000,
    }
  }

  /**
   * Seals the stored pair under the newest key. A refresh names the very pair that it replaces, and cannot be repeated:
   * so a refresh that runs is waited for, and one that comes meanwhile waits. Answers how many secrets were sealed anew.
   */
  async reseal(key: ExtensionKey): Promise<number> {
    const name = nameOf(key)
    const underWay = (): Promise<unknown> | undefined => this.#refreshing.get(name) ?? this.#resealing.get(name)
    for (let run = underWay(); run !== undefined; run = underWay()) await run.catch(() => undefined)
    const resealed = this.#reseal(key)
    const done = Promise.allSettled([resealed]).then(() => void this.#resealing.delete(name))
    this.#resealing.set(name, done)
    await done
    return resealed
  }

  openRefresh(row: ExtensionRow): Promise<string> {
    return this.context.secrets.open(row.refreshToken, sealContext(row, 'rc_refresh'))
  }

  async #afterReseal(name: string, run: () => Promise<TokenResult>): Promise<TokenResult> {
    await this.#resealing.get(name)
    return run()
  }

  async #reseal(key: ExtensionKey): Promise<number> {
    const { directory, secrets } = this.context
    directory.forget(key.tenantId)
    const row = await directory.extension(key.tenantId, key.extensionId)
    if (row === null) return 0
    const stale = [row.accessToken, row.refreshToken].filter((sealed) => !secrets.isCurrent(sealed)).length
    if (stale === 0) return 0
    const accessToken = await secrets.seal(
      await secrets.open(row.accessToken, sealContext(row, 'rc_access')),
      sealContext(row, 'rc_access'),
    )
    const refreshToken = await secrets.seal(await this.openRefresh(row), sealContext(row, 'rc_refresh'))
    const [stored] = await this.#commit(row, replaceSeals(row, row.refreshToken, { accessToken, refreshToken }))
    return stored?.rows.length === 0 ? 0 : stale
  }

  async #refresh(key: ExtensionKey): Promise<TokenResult> {
    const row = await this.context.directory.extension(key.tenantId, key.extensionId)
    if (row === null || row.status === 'revoked') return { type: 'gone' }
    const kept = this.#uncommitted.get(nameOf(row))
    if (kept?.replaces === row.refreshToken) return this.#store(row, kept)
    const result = await this.context.provider.refresh(await this.openRefresh(row))
    if (result.ok) {
      const sealed = await this.seal(row, result.value)
      return this.#store(row, { replaces: row.refreshToken, sealed, accessToken: result.value.accessToken })
    }
    return meansRevoked(result.failure)
      ? this.#revoked(row, result.failure.code ?? 'invalid_grant')
      : this.#failed(row, result.failure)
  }

  /** The new pair is committed first: until its access token is used, the old refresh token would still serve. */
  async #store(row: ExtensionRow, fresh: FreshPair): Promise<TokenResult> {
    const { replaces, sealed, accessToken } = fresh
    this.#uncommitted.set(nameOf(row), fresh)
    const [stored] = await this.#commit(row, replacePair(row, replaces, sealed, this.context.clock.now()))
    this.#uncommitted.delete(nameOf(row))
    if (stored?.rows.length === 0) return this.access(row)
    this.#opened.keep(row, sealed.accessToken, accessToken)
    return { type: 'token', accessToken }
  }

  async #revoked(row: ExtensionRow, why: string): Promise<TokenResult> {
    const [noted] = await this.#commit(
      row,
      noteRefreshFailure(row, row.refreshToken, 'revoked', row.refreshFailures, null),
    )
    if (noted?.rows.length === 0) return this.access(row)
    this.context.log.warn(
      { tenantId: row.tenantId, extensionId: row.extensionId, why },
      'extension revoked: someone must authorize it again, with an invite link (POST /v1/rc/invite-token)',
    )
    return { type: 'gone' }
  }

  async #failed(row: ExtensionRow, failure: ProviderFailure): Promise<TokenResult> {
    const failures = row.refreshFailures + 1
    const delayMs = Math.max(refreshDelayMs(failures), failure.retryAfterMs ?? 0)
    const nextRefreshAt = this.context.clock.now() + delayMs
    const note = noteRefreshFailure(row, row.refreshToken, 'refresh_failed', failures, nextRefreshAt)
    const [noted] = await this.#commit(row, note).catch((error: unknown) => {
      // The note may stand all the same, and nobody else would try again.
      this.planRetry({ ...row, nextRefreshAt })
      throw error
    })
    if (noted?.rows.length === 0) return this.access(row)
    this.context.log.warn(
      {
        tenantId: row.tenantId,
        extensionId: row.extensionId,
        status: failure.status,
        code: failure.code,
        delayMs,
        requestId: failure.requestId,
      },
      failure.oauthError === 'invalid_client'
        ? 'token refresh refused: check RC_CLIENT_ID and RC_CLIENT_SECRET'
        : 'token refresh failed, trying again',
    )
    this.planRetry({ ...row, nextRefreshAt })
    return { type: 'waiting', retryInMs: delayMs }
  }

  async #commit(key: ExtensionKey, statement: ReturnType<typeof replacePair>): ReturnType<Writer['write']> {
    const { writer, directory, changed } = this.context
    // Forgotten also when it failed: a disk can fail after the commit, and the pair that was replaced must not be used again.
    const stored = await writer.write([statement]).finally(() => directory.forget(key.tenantId))
    // Not then: whoever is told tries again, and would tell the others.
    changed({ tenantId: key.tenantId, extensionId: key.extensionId })
    return stored
  }

  async #waiting(row: ExtensionRow): Promise<TokenResult> {
    const retryInMs = (row.nextRefreshAt ?? 0) - this.context.clock.now()
    return retryInMs <= 0 || this.isRefreshing(row) ? this.refresh(row) : { type: 'waiting', retryInMs }
  }
}
