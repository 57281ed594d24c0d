import { computed } from '@preact/signals'
import type { DeliveryAttempt, Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList, RELOAD_EVERY_MS } from '../list/paged-list.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Filter, queryOf } from './filters.ts'

/** An attempt has no event. It follows the event of a message, and has ended after a webhook's time limit. */
const AFTER_EVENT_MS = 1000
const WEBHOOK_MS = 6000
/** A failed delivery may be retried by its policy, which has no event either. */
const RETRIES_EVERY_MS = 15_000

/** The deliveries of one filter, each by its newest attempt. Ended attempts do not change, so new ones are added above. */
export class DeliveryList extends PagedList<DeliveryAttempt> {
  /** A delivery's newest attempt is first. */
  override readonly shown = computed(() => {
    const ids = new Set<string>()
    return this.rows.value.filter(({ deliveryId }) => !ids.has(deliveryId) && ids.add(deliveryId))
  })
  #eventAt = -Infinity

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
  ) {
    super()
  }

  keyOf({ deliveryId }: DeliveryAttempt): string {
    return deliveryId
  }

  protected override identityOf({ deliveryId, attemptNumber }: DeliveryAttempt): string {
    return `${deliveryId} ${attemptNumber}`
  }

  atOf({ attemptedAt }: DeliveryAttempt): string {
    return attemptedAt
  }

  /** What happens to a message may be posted soon. */
  override note({ type }: LiveEvent): void {
    if (type === 'gap') this.noteGap()
    this.soon()
  }

  /** Attempts are about to be made. */
  soon(): void {
    this.#eventAt = Date.now()
    this.reloadIn(AFTER_EVENT_MS)
  }

  /** A delivery that never arrived leaves the list when it is delivered again or dismissed. */
  protected override take(page: Page<DeliveryAttempt>): void {
    super.take(page)
    if (this.filter.state === undefined) return
    const end = page.total > page.rows.length ? (page.rows.at(-1)?.attemptedAt ?? '') : ''
    this.rows.value = this.rows.value.filter((row) => page.rows.includes(row) || row.attemptedAt < end)
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
