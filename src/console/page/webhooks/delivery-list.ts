import { computed, signal } from '@preact/signals'
import type { DeliveryAttempt, Sgw } from '../../../client/client.ts'
import type { LiveList } from '../list/rows.tsx'
import type { Gap } from '../list/window.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Filter, keyOf, queryOf } from './filter.ts'

const PAGE_ROWS = 50
/** So many rows stay while the newest are in sight. */
const MAX_ROWS = 300
/** So many new rows come in above those that somebody has scrolled to. */
const MAX_NEW = 200
/** An attempt has no event. It follows one of a message, and has ended after a webhook's time. */
const AFTER_EVENT_MS = 1000
const WEBHOOK_MS = 6000
const RELOAD_EVERY_MS = 4000
/** What failed may be tried again by its policy, which has no event either. */
const RETRIES_EVERY_MS = 15_000

/** The loaded attempts of one filter, newest first. What has ended does not change, so new ones are merged in. */
export class DeliveryList implements LiveList<DeliveryAttempt> {
  readonly rows = signal<readonly DeliveryAttempt[]>([])
  readonly shown = this.rows
  readonly total = signal<number | null>(null)
  readonly gap = signal<Gap | null>(null)
  readonly error = signal('')
  readonly isLoading = signal(true)
  readonly newCount = signal(0)
  readonly hasMore = computed(() => !this.#isEnd.value && this.rows.value.length < (this.total.value ?? 0))
  isAtTop = true

  readonly #isEnd = signal(false)
  #isBehind = false
  #isPaging = false
  #isStopped = false
  #reloadedAt = -Infinity
  #eventAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined
  #reloadAt = Infinity

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
  ) {}

  keyOf(row: DeliveryAttempt): string {
    return keyOf(row)
  }

  atOf({ attemptedAt }: DeliveryAttempt): string {
    return attemptedAt
  }

  /** Loads the first page and forgets everything loaded before. */
  async load(): Promise<void> {
    this.isLoading.value = true
    this.gap.value = null
    const page = await this.#page(1)
    this.isLoading.value = false
    if (page === null) return
    this.#isBehind = false
    this.#isEnd.value = false
    this.rows.value = page.attempts
    this.total.value = page.total
    this.#planNext()
  }

  /** Loads what is older than the last row, by its time: a page's number would shift with new attempts. */
  async loadMore(): Promise<void> {
    const last = this.rows.value.at(-1)
    if (this.#isPaging || last === undefined || !this.hasMore.value) return
    this.#isPaging = true
    const same = this.rows.value.filter(({ attemptedAt }) => attemptedAt === last.attemptedAt).length
    const page = await this.#page(1 + Math.floor(same / PAGE_ROWS), last.attemptedAt)
    this.#isPaging = false
    // A trimmed list continues after its new end.
    if (page === null || this.rows.value.at(-1) !== last) return
    const merged = merge(this.rows.value, page.attempts)
    this.#isEnd.value = merged.length === this.rows.value.length
    this.rows.value = merged
  }

  /** The newest rows were seen. What was left out above them is loaded now. */
  seen(): void {
    this.newCount.value = 0
    if (this.#isBehind) void this.load()
  }

  /** What happens to a message may be posted soon. */
  note({ type }: LiveEvent): void {
    if (type === 'gap') this.#noteGap()
    this.soon()
  }

  /** Attempts are about to be made. */
  soon(): void {
    this.#eventAt = Date.now()
    this.#reloadIn(Math.max(AFTER_EVENT_MS, this.#reloadedAt + RELOAD_EVERY_MS - Date.now()))
  }

  /** Ends the reading, for good. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #noteGap(): void {
    const now = new Date().toISOString()
    this.gap.value = { after: this.rows.value[0]?.attemptedAt ?? now, before: now }
  }

  /** Reads the first page again after `ms`, unless that is planned for an earlier time. */
  #reloadIn(ms: number): void {
    const at = Date.now() + ms
    if (this.#isStopped || at >= this.#reloadAt) return
    clearTimeout(this.#timer)
    this.#reloadAt = at
    this.#timer = setTimeout(() => {
      this.#reloadAt = Infinity
      void this.#reload()
    }, ms)
  }

  async #reload(): Promise<void> {
    this.#reloadedAt = Date.now()
    const page = await this.#page(1)
    if (page !== null) this.#take(page.attempts, page.total)
    this.#planNext()
  }

  /** Puts the first page on top of the rows. If it does not reach a known row, a gap remains between them. */
  #take(attempts: readonly DeliveryAttempt[], total: number): void {
    const old = this.rows.value
    const merged = merge(old, attempts)
    const added = merged.length - old.length
    const [newest, oldest] = [old[0], attempts.at(-1)]
    if (added >= PAGE_ROWS && newest !== undefined && oldest !== undefined)
      this.gap.value = { after: newest.attemptedAt, before: oldest.attemptedAt }
    if (this.isAtTop) this.rows.value = merged.slice(0, MAX_ROWS)
    else if (this.newCount.value + added <= MAX_NEW) this.rows.value = merged
    else this.#isBehind = true
    this.newCount.value += added
    this.total.value = total
  }

  #planNext(): void {
    if (Date.now() - this.#eventAt < WEBHOOK_MS) this.#reloadIn(RELOAD_EVERY_MS)
    else if (this.rows.value.slice(0, PAGE_ROWS).some(({ outcome }) => outcome !== 'success'))
      this.#reloadIn(RETRIES_EVERY_MS)
  }

  async #page(page: number, endDate?: string) {
    try {
      const query = { ...queryOf(this.filter), endDate, limit: PAGE_ROWS }
      const answer = await whileSignedIn(this.sgw.deliveries.list(query).page(page))
      this.error.value = ''
      return answer
    } catch (error) {
      this.error.value = failureText(error)
      return null
    }
  }
}

/** The rows of both, newest first. An attempt that took long ends after later ones. */
function merge(old: readonly DeliveryAttempt[], more: readonly DeliveryAttempt[]): DeliveryAttempt[] {
  const known = new Set(old.map(keyOf))
  return [...old, ...more.filter((row) => !known.has(keyOf(row)))].toSorted((a, b) =>
    b.attemptedAt.localeCompare(a.attemptedAt),
  )
}
