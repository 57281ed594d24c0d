import type { Clock } from '../core/clock.ts'
import { REFRESH_RETRY_MAX_MS, REFRESH_RETRY_MIN_MS } from '../core/limits.ts'
import { type Log, errorName } from '../core/log.ts'
import { type ExtensionKey, nameOf } from './extension-rows.ts'

export interface RefreshRetriesContext {
  clock: Clock
  log: Log
  refresh(key: ExtensionKey): Promise<unknown>
}

/** The planned refreshes of extensions whose refresh failed or could not be stored, one per extension. */
export class RefreshRetries {
  readonly #planned = new Map<string, () => void>()

  constructor(readonly context: RefreshRetriesContext) {}

  /** Plans the next refresh of an extension, and replaces the planned one. */
  plan(key: ExtensionKey, delayMs: number): void {
    const { clock, log, refresh } = this.context
    this.cancel(key)
    const cancel = clock.after(Math.min(delayMs, REFRESH_RETRY_MAX_MS), () => {
      this.#planned.delete(nameOf(key))
      refresh(key).catch((error: unknown) => {
        log.error({ extensionId: key.extensionId, error: errorName(error) }, 'token refresh could not be tried')
        this.plan(key, REFRESH_RETRY_MIN_MS)
      })
    })
    this.#planned.set(nameOf(key), cancel)
  }

  cancel(key: ExtensionKey): void {
    this.#planned.get(nameOf(key))?.()
    this.#planned.delete(nameOf(key))
  }

  cancelAll(): void {
    for (const cancel of this.#planned.values()) cancel()
    this.#planned.clear()
  }
}
