import { NUMBER_LOOKUP_EVERY_MS } from '../core/limits.ts'
import { errorName } from '../core/log.ts'
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
 * Reads the numbers of all extensions of a tenant from the provider when a number is not known. A message fails only after a
 * lookup that began after its acceptance. Lookups of one tenant begin at least 10 s apart.
 */
export class NumberLookups {
  readonly #latest = new Map<string, NumberLookup>()
  /** Tenants whose next lookup has a timer. */
  readonly #planned = new Set<string>()

  constructor(
    readonly context: Pick<SendingContext, 'clock' | 'log'> & { numbers: Pick<SendingContext['numbers'], 'readAll'> },
    /** Called when a lookup has ended, or when the next one may begin. */
    readonly changed: (tenantId: string) => void,
  ) {}

  /** Whether a lookup has succeeded that began after the entry's acceptance and refusal. If not, begins one as soon as allowed. */
  isFinalFor(entry: Entry, newestJobSeq: number): boolean {
    const { tenantId } = entry.queue
    const latest = this.#latest.get(tenantId)
    if (latest?.succeeded === true && latest.jobSeq >= entry.jobSeq && latest.at > (entry.refusal?.at ?? -1))
      return true
    // A message that is stored although its commit failed may be newer than `newestJobSeq`.
    if (latest?.succeeded !== null) this.#plan(tenantId, latest, Math.max(newestJobSeq, entry.jobSeq))
    return false
  }

  #plan(tenantId: string, latest: NumberLookup | undefined, newestJobSeq: number): void {
    const { clock } = this.context
    const waitMs = latest === undefined ? 0 : latest.at + NUMBER_LOOKUP_EVERY_MS - clock.monotonic()
    if (waitMs <= 0) return void this.#run(tenantId, newestJobSeq)
    if (this.#planned.has(tenantId)) return
    this.#planned.add(tenantId)
    clock.after(Math.ceil(waitMs), () => {
      this.#planned.delete(tenantId)
      this.changed(tenantId)
    })
  }

  async #run(tenantId: string, jobSeq: number): Promise<void> {
    const lookup: NumberLookup = { at: this.context.clock.monotonic(), jobSeq, succeeded: null }
    this.#latest.set(tenantId, lookup)
    try {
      lookup.succeeded = await this.context.numbers.readAll(tenantId)
    } catch (error) {
      lookup.succeeded = false
      this.context.log.error({ tenantId, error: errorName(error) }, 'numbers could not be looked up, trying again')
    }
    this.changed(tenantId)
  }
}
