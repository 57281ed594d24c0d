import type { ProviderFailure } from './provider.ts'

const FIRST_MS = 10_000
const MAX_MS = 10 * 60_000

/** Subscriptions that could not be made: each is tried again after 10 s, doubling to 10 min. */
export class Retries {
  readonly #running = new Map<string, { failures: number; failure: ProviderFailure | null }>()

  /** Notes a failure; answers after how long to try again. */
  delayMs(name: string, failure?: ProviderFailure): number {
    const failures = (this.#running.get(name)?.failures ?? 0) + 1
    this.#running.set(name, { failures, failure: failure ?? null })
    return Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS)
  }

  /** What the provider said last, where it said something. */
  failure(name: string): ProviderFailure | null {
    return this.#running.get(name)?.failure ?? null
  }

  clear(name: string): void {
    this.#running.delete(name)
  }
}
