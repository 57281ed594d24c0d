import { WINDOW_MS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { Orm } from '../db/orm.ts'
import { type ExtensionKey, nameOf, notePause } from './extension-rows.ts'
import { type ProviderFailure, type ProviderResult, isForeign } from './provider.ts'
import { type Quota, type QuotaGroup, SEND_GROUP, asksForNoPause } from './quota.ts'
import type { Tokens } from './tokens.ts'

/**
 * The result of a call for an extension.
 * - `gone`: the extension is no longer connected. No call was made, or it was answered 401, which is its `failure`.
 * - `deferred`: no call may be made now. No call was made, or it was answered 401, which is its `failure`.
 */
export type CallResult<T> =
  | { type: 'ok'; value: T }
  | { type: 'failed'; failure: ProviderFailure }
  | { type: 'gone'; failure: ProviderFailure | null }
  | { type: 'deferred'; cause: WaitCause; retryInMs: number; failure: ProviderFailure | null }

/** Why no call may be made now: the provider requested a pause, the user has used up the minute's logins, or a token refresh failed. */
export type WaitCause = 'pause' | 'logins' | 'tokens'

/** Calls to the provider for an extension, with its token. */
export class ExtensionCalls {
  /** Monotonic time at which a 401 not in the provider's form last led to a new token. */
  readonly #foreignRenewals = new Map<string, number>()

  constructor(
    readonly tokens: Tokens,
    readonly quota: Quota,
    readonly orm: Orm,
    readonly clock: Clock,
  ) {}

  /** Makes a call, and retries once with a new token after a 401. Makes none during a pause. */
  async make<T>(
    key: ExtensionKey,
    group: QuotaGroup,
    run: (accessToken: string) => Promise<ProviderResult<T>>,
  ): Promise<CallResult<T>> {
    let token = this.tokens.known(key) ?? (await this.tokens.access(key))
    let failure: ProviderFailure | null = null
    for (let tries = 1; token.type === 'token'; tries++) {
      // Checked after the token: while the token was fetched, another call may have got a 429.
      const pauseMs = this.quota.pauseMs(key.extensionId, group)
      if (pauseMs > 0) return { type: 'deferred', cause: 'pause', retryInMs: pauseMs, failure }
      const result = await run(token.accessToken)
      if (endsShortPauses(result)) this.quota.answered(key.extensionId, group)
      if (result.ok || endsPauses(result.failure)) this.quota.tookCall(key.extensionId, group)
      if (result.ok) return { type: 'ok', value: result.value }
      if (result.failure.reason !== 'unauthorized' || tries === 2 || !this.#mayRenew(key, result.failure))
        return this.#failed(key, group, judged(result.failure))
      // A call that was answered 401 did nothing, so repeating it once with a new token is safe.
      failure = result.failure
      token = await this.tokens.renew(key, token.accessToken)
    }
    return token.type === 'gone' ? { ...token, failure } : { ...token, cause: 'tokens', failure }
  }

  /** A proxy that answers every call with 401 must not use up the minute's tokens. */
  #mayRenew(key: ExtensionKey, failure: ProviderFailure): boolean {
    if (!isForeign(failure)) return true
    const now = this.clock.monotonic()
    if (now - (this.#foreignRenewals.get(nameOf(key)) ?? -Infinity) < WINDOW_MS) return false
    this.#foreignRenewals.set(nameOf(key), now)
    return true
  }

  async #failed(key: ExtensionKey, group: QuotaGroup, failure: ProviderFailure): Promise<CallResult<never>> {
    if (failure.reason === 'rate_limited') {
      const pauseMs = this.quota.pauseAsAnnounced(key.extensionId, group, failure.retryAfterMs)
      if (group === SEND_GROUP)
        // If it is not stored, a restart forgets the pause, and the first call gets another 429.
        await notePause(this.orm, key.extensionId, Math.ceil(this.clock.steady()) + pauseMs).catch(() => undefined)
    }
    return { type: 'failed', failure }
  }
}

/** Whether the provider handled the call, and neither requested a pause nor was unavailable. */
const endsPauses = ({ reason, status }: ProviderFailure): boolean =>
  status !== null && reason !== 'rate_limited' && reason !== 'unavailable' && reason !== 'intercepted'

/** If a 401 is not in the provider's form and persists with a new token, it says nothing about the extension: something in between refuses. */
const judged = (failure: ProviderFailure): ProviderFailure =>
  failure.reason === 'unauthorized' && isForeign(failure) ? { ...failure, reason: 'intercepted' } : failure

const endsShortPauses = (result: ProviderResult<unknown>): boolean =>
  result.ok || (result.failure.status !== null && !asksForNoPause(result.failure))
