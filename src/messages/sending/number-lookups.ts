import { NUMBER_LOOKUP_EVERY_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { SendingContext } from './context.ts'
import type { Entry } from './number-queue.ts'

interface NumberLookup {
  /** Monotonic time at which it began, and the newest job accepted by then. */
  at: number
  jobSeq: number
  /** Null while it runs. */
  succeeded: boolean | null
}

/**
 * Reads the numbers of all of a tenant's extensions from the provider when a number is unknown. A message fails only after a lookup that began
 * after its acceptance. Lookups of one tenant begin at least 10 s apart.
 */
export class NumberLookups {
  readonly #latest = new Map<string, NumberLookup>()
  /** Tenants whose next lookup has a timer. */
  readonly #planned = new Set<string>()
  /** No send job that was accepted so far has a higher `seq`. */
  #newestJobSeq = 0

  constructor(
    readonly context: Pick<SendingContext, 'clock' | 'log'> & { numbers: Pick<SendingContext['numbers'], 'readAll'> },
    /** Called when a lookup has ended, or when the next one may start. */
    readonly changed: (tenantId: string) => void,
  ) {}

  /** Call it when a send job has been committed. A lookup that starts now counts for it and for all older ones. */
  noteAccepted(jobSeq: number): void {
    this.#newestJobSeq = Math.max(this.#newestJobSeq, jobSeq)
  }

  /**
   * Returns whether a number lookup has succeeded that started after the entry was accepted, and after the provider said that its number has
   * moved. If not, starts one as soon as allowed.
   */
  ensureLookedUp(entry: Entry): boolean {
    const { tenantId } = entry.queue
    const latest = this.#latest.get(tenantId)
    if (latest?.succeeded === true && latest.jobSeq >= entry.jobSeq && latest.at > (entry.movedNumber?.at ?? -1))
      return true
    // A message that was stored although its commit failed has not been recorded here.
    this.noteAccepted(entry.jobSeq)
    if (latest?.succeeded !== null) this.#plan(tenantId, latest)
    return false
  }

  #plan(tenantId: string, latest: NumberLookup | undefined): void {
    const { clock } = this.context
    const waitMs = latest === undefined ? 0 : latest.at + NUMBER_LOOKUP_EVERY_MS - clock.monotonic()
    if (waitMs <= 0) return void this.#run(tenantId)
    if (this.#planned.has(tenantId)) return
    this.#planned.add(tenantId)
    clock.after(Math.ceil(waitMs), () => {
      this.#planned.delete(tenantId)
      this.changed(tenantId)
    })
  }

  async #run(tenantId: string): Promise<void> {
    const { clock, numbers, log } = this.context
    const lookup: NumberLookup = { at: clock.monotonic(), jobSeq: this.#newestJobSeq, succeeded: null }
    this.#latest.set(tenantId, lookup)
    try {
      lookup.succeeded = await numbers.readAll(tenantId)
    } catch (error) {
      lookup.succeeded = false
      log.error({ tenantId, error: errorName(error) }, 'numbers could not be looked up, trying again')
    }
    this.changed(tenantId)
  }
}
