import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { Writer } from '../db/writer.ts'
import { type ExtensionKey, notePause } from './extension-rows.ts'
import type { ProviderFailure, ProviderResult } from './provider.ts'
import type { Quota, QuotaGroup } from './quota.ts'
import type { Tokens } from './tokens.ts'

/** The result of a call for an extension. `gone`, `waiting`: no call was made, or its token was refused. */
export type CallResult<T> =
  | { type: 'ok'; value: T }
  | { type: 'failed'; failure: ProviderFailure }
  | { type: 'gone' }
  | { type: 'waiting'; retryInMs: number }

/** Calls the provider for an extension: with a fresh token, a second time after a 401, and not during the pause after a 429. */
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
    let token = this.tokens.known(key) ?? (await this.tokens.access(key))
    for (let tries = 1; token.type === 'token'; tries++) {
      // Checked after the token: while it was fetched, another call may have got a 429.
      const pauseMs = this.quota.pauseMs(key.extensionId, group)
      if (pauseMs > 0) return { type: 'waiting', retryInMs: pauseMs }
      const result = await run(token.accessToken)
      if (result.ok) return { type: 'ok', value: result.value }
      if (result.failure.reason !== 'unauthorized' || tries === 2) return this.#failed(key, group, result.failure)
      // A call that was answered 401 did nothing, so repeating it once with a new token is safe.
      token = await this.tokens.renew(key, token.accessToken)
    }
    return token
  }

  async #failed(key: ExtensionKey, group: QuotaGroup, failure: ProviderFailure): Promise<CallResult<never>> {
    if (failure.reason === 'rate_limited') {
      const pauseMs = failure.retryAfterMs ?? DEFAULT_PENALTY_MS
      this.quota.pause(key.extensionId, group, pauseMs)
      if (group === 'medium')
        await this.writer
          .write([notePause(key.extensionId, Math.ceil(this.clock.steady()) + pauseMs)])
          .catch(() => undefined)
    }
    return { type: 'failed', failure }
  }
}
