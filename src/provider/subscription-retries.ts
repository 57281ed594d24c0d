import type { ProviderFailure } from './provider.ts'
import { type Wait, waitFailure } from './subscription-life.ts'

const FIRST_RETRY_MS = 10_000
const MAX_RETRY_MS = 10 * 60_000

/** Counts failures per extension. The retry comes after 10 s, doubling to 10 min. */
export class SubscriptionRetries {
  readonly #running = new Map<string, { failures: number; failure: ProviderFailure | null }>()

  /** Records a failure; returns how long to wait before the retry. */
  delayMs(name: string, failure?: ProviderFailure): number {
    const failures = (this.#running.get(name)?.failures ?? 0) + 1
    this.#running.set(name, { failures, failure: failure ?? null })
    return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS)
  }

  /** Records why a run waits, which is not a failure; returns how long. */
  waitMs(name: string, wait: Wait): number {
    const failure = waitFailure(wait)
    this.#running.set(name, { failures: this.#running.get(name)?.failures ?? 0, failure })
    return failure.retryAfterMs
  }

  /** The provider's last failure, or the last wait; null if the provider did not answer. */
  failure(name: string): ProviderFailure | null {
    return this.#running.get(name)?.failure ?? null
  }

  clear(name: string): void {
    this.#running.delete(name)
  }
}
