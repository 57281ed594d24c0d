import type { DeliveryAttempt, Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList, RELOAD_EVERY_MS } from '../list/paged-list.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Filter, keyOf, queryOf } from './filters.ts'

/** An attempt has no event. It follows one of a message, and has ended after a webhook's time. */
const AFTER_EVENT_MS = 1000
const WEBHOOK_MS = 6000
/** What failed may be tried again by its policy, which has no event either. */
const RETRIES_EVERY_MS = 15_000

/** The attempts of one filter. What has ended does not change, so new ones come in above. */
export class DeliveryList extends PagedList<DeliveryAttempt> {
  #eventAt = -Infinity

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
  ) {
    super()
  }

  keyOf(row: DeliveryAttempt): string {
    return keyOf(row)
  }

  atOf({ attemptedAt }: DeliveryAttempt): string {
    return attemptedAt
  }

  /** What happens to a message may be posted soon. */
  note({ type }: LiveEvent): void {
    if (type === 'gap') this.noteGap()
    this.soon()
  }

  /** Attempts are about to be made. */
  soon(): void {
    this.#eventAt = Date.now()
    this.reloadIn(AFTER_EVENT_MS)
  }

  /** Retries have no events: some may have been made meanwhile. */
  override returned(): void {
    if (this.error.value === '') this.soon()
    else super.returned()
  }

  protected override planNext(): void {
    if (Date.now() - this.#eventAt < WEBHOOK_MS) this.reloadIn(RELOAD_EVERY_MS)
    else if (this.rows.value.slice(0, PAGE_ROWS).some(({ outcome }) => outcome !== 'success'))
      this.reloadIn(RETRIES_EVERY_MS)
  }

  protected async read(page: number, endDate?: string): Promise<Page<DeliveryAttempt>> {
    const query = { ...queryOf(this.filter), endDate, limit: PAGE_ROWS }
    const { attempts, total } = await this.sgw.deliveries.list(query).page(page)
    return { rows: attempts, total }
  }
}
