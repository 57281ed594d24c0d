import type { Clock } from '../../core/clock.ts'
import { type Log, unexpected } from '../../core/log.ts'

/** Runs recurring work. A long or failed run only delays the next one. */
export class Timers {
  readonly #cancels = new Map<string, () => void>()
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(
    readonly clock: Clock,
    readonly log: Log,
  ) {}

  /** Runs `work` after `firstMs`, then `everyMs` after the end of each run. */
  every(name: string, everyMs: number, firstMs: number, work: () => Promise<unknown>): void {
    this.once(name, firstMs, async () => {
      try {
        await work()
      } finally {
        this.every(name, everyMs, everyMs, work)
      }
    })
  }

  /** Runs `work` after `ms`. Replaces planned work of this name that has not started. */
  once(name: string, ms: number, work: () => Promise<unknown>): void {
    if (this.#stopped) return
    this.#cancels.get(name)?.()
    const cancel = this.clock.after(ms, () => {
      const run = this.#run(name, work).finally(() => this.#running.delete(run))
      this.#running.add(run)
    })
    this.#cancels.set(name, cancel)
  }

  /** Cancels planned work of this name that has not started. */
  cancel(name: string): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#cancels.values()) cancel()
    await Promise.allSettled(this.#running)
  }

  async #run(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.log.error({ timer: name, ...unexpected(error) }, 'recurring work failed, trying again later')
    }
  }
}
