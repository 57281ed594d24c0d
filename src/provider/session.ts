import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { Writer } from '../db/writer.ts'
import { type ExtensionKey, notePause } from './extension-rows.ts'
import type { ProviderFailure, ProviderResult } from './provider.ts'
import type { Quota, QuotaGroup } from './quota.ts'
import type { Tokens } from './tokens.ts'

/** The outcome of a call for an extension. `gone` and `waiting`: no call was made, or it was refused for its token. */
export type CallResult<T> =
  | { type: 'ok'; value: T }
  | { type: 'failed'; failure: ProviderFailure }
  | { type: 'gone' }
  | { type: 'waiting'; retryInMs: number }

/** Calls the provider in the name of an extension: with a fresh token, once more after a 401, and silent after a 429. */
export class Session {
  constructor(
    readonly tokens: Tokens,
    readonly quota: Quota,
    readonly writer: Writer,
    readonly clock: Clock,
  ) {}

  async call<T>(
    key: ExtensionKey,
    group: QuotaGroup,
    run: (accessToken: string) => Promise<ProviderResult<T>>,
  ): Promise<CallResult<T>> {
    const token = await this.tokens.access(key)
    if (token.type !== 'token') return token
    const result = await this.#once(key, group, token.accessToken, run)
    if (result.type !== 'failed' || result.failure.reason !== 'unauthorized') return result
    // A 401 did nothing at the provider, so repeating the call once with a new token cannot do it twice.
    const renewed = await this.tokens.renew(key, token.accessToken)
    return renewed.type === 'token' ? this.#once(key, group, renewed.accessToken, run) : renewed
  }

  /** The pause is looked at last: getting a token takes its time, in which another call may have met a 429. */
  async #once<T>(
    key: ExtensionKey,
    group: QuotaGroup,
    accessToken: string,
    run: (accessToken: string) => Promise<ProviderResult<T>>,
  ): Promise<CallResult<T>> {
    const pauseMs = this.quota.pauseMs(key.extensionId, group)
    if (pauseMs > 0) return { type: 'waiting', retryInMs: pauseMs }
    const result = await run(accessToken)
    return result.ok ? { type: 'ok', value: result.value } : this.#failed(key, group, result.failure)
  }

  async #failed(key: ExtensionKey, group: QuotaGroup, failure: ProviderFailure): Promise<CallResult<never>> {
    if (failure.reason === 'rate_limited') {
      const pauseMs = failure.retryAfterMs ?? DEFAULT_PENALTY_MS
      this.quota.pause(key.extensionId, group, pauseMs)
      if (group === 'medium')
        await this.writer.write([notePause(key.extensionId, this.clock.now() + pauseMs)]).catch(() => undefined)
    }
    return { type: 'failed', failure }
  }
}
