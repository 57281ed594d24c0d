import { type ReadonlySignal, computed, signal } from '@preact/signals'
import { whileSignedIn } from '../state/caller.ts'
import type { Followed } from '../parts/following.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { Gap } from './window.ts'

export const PAGE_ROWS = 50
/** This many rows stay while the newest are visible. */
const MAX_ROWS = 300
const KEPT_EVENTS = 50
/** News reloads the first page immediately, then at most this often. */
export const RELOAD_EVERY_MS = 4000

/** A page of a list of the API, newest first. */
export interface Page<Row> {
  rows: readonly Row[]
  total: number
}

/** The loaded rows of one filter, newest first. It loads, pages, and reads the first page again, and does not know what is visible. */
export abstract class PagedList<Row> implements Followed {
  readonly rows = signal<readonly Row[]>([])
  readonly shown: ReadonlySignal<readonly Row[]> = this.rows
  readonly total = signal<number | null>(null)
  readonly gap = signal<Gap | null>(null)
  readonly error = signal('')
  readonly isLoading = signal(true)
  /** How many rows were left out since the list was last at its top, so that the rows in sight stay. */
  readonly newCount = signal(0)
  /** The first page at its last reading. The rows can be older. */
  protected readonly first = signal<readonly Row[]>([])
  /** How many rows are older than the last loaded one. */
  readonly older = signal(0)
  readonly hasMore = computed(() => this.older.value > 0)
  /** Whether the newest rows are visible. */
  isAtTop = true
  /** What `j` and `k` do while something replaces the rows; false for other keys. */
  declare step?: ((key: string) => boolean) | undefined

  /** The rows after the last one are requested by its time, because new rows shift page numbers; if rows can move to the top, by its page. */
  protected readonly isByTime: boolean = true
  protected pageRows = PAGE_ROWS
  #isPaging = false
  #isStopped = false
  #reloadedAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The newest events: an answer that was asked for before them lacks them. */
  #events: readonly LiveEvent[] = []
  /** When the first page is read again, in milliseconds. */
  #reloadAt = Infinity

  /** Unique among the shown rows. */
  abstract keyOf(row: Row): string
  /** Which rows are the same one, where several have one key. */
  protected identityOf(row: Row): string {
    return this.keyOf(row)
  }
  /** The time by which the list is ordered, newest first. */
  abstract atOf(row: Row): string
  /** Reads a page of the rows that are not newer than `endDate`; null if the API does not accept the filter. */
  protected abstract read(page: number, endDate?: string): Promise<Page<Row>> | null
  /** A row after an event, which may be about another one. */
  protected after(row: Row, _event: LiveEvent): Row {
    return row
  }
  /** Plans the next reading, depending on the first page; here, only events and a person cause one. */
  protected planNext(): void {}

  /** Loads the first page and forgets everything loaded before. */
  async load(): Promise<void> {
    this.isLoading.value = true
    this.gap.value = null
    const page = await this.#page(1)
    this.isLoading.value = false
    if (page === null) return
    this.newCount.value = 0
    this.first.value = page.rows
    this.rows.value = page.rows
    this.total.value = page.total
    this.older.value = page.total - page.rows.length
    this.planNext()
  }

  /** Loads what is older than the last row. */
  async loadMore(): Promise<void> {
    const last = this.rows.value.at(-1)
    if (this.#isPaging || last === undefined || !this.hasMore.value) return
    this.#isPaging = true
    const before = this.isByTime
      ? this.rows.value.filter((row) => this.atOf(row) === this.atOf(last)).length
      : this.rows.value.length
    const page = await this.#page(1 + Math.floor(before / this.pageRows), this.isByTime ? this.atOf(last) : undefined)
    this.#isPaging = false
    const end = this.rows.value.at(-1)
    // A trimmed list continues after its new end.
    if (page === null || end === undefined || this.identityOf(end) !== this.identityOf(last)) return
    const added = this.without(page.rows, this.rows.value)
    this.rows.value = [...this.rows.value, ...added]
    this.older.value = added.length === 0 ? 0 : page.total - before - added.length
  }

  catchUp(): void {
    // Only a load knows what is older.
    if (this.error.value !== '') void this.load()
    else this.reloadIn(0)
  }

  /** Takes an event: changes the rows that it is about. */
  note(event: LiveEvent): void {
    this.#events = event.type === 'gap' ? [] : [...this.#events.slice(-KEPT_EVENTS), event]
    this.rows.value = this.allAfter(this.rows.value, event)
  }

  /** The same array if the event is about none of the rows: another one would draw the list again. */
  protected allAfter(rows: readonly Row[], event: LiveEvent): readonly Row[] {
    const changed = rows.map((row) => this.after(row, event))
    return changed.some((row, index) => row !== rows[index]) ? changed : rows
  }

  /** The list is at its top. What was left out above is loaded now; if that fails, it still counts. */
  async seen(): Promise<void> {
    const { value } = this.newCount
    if (value === 0) return
    this.newCount.value = 0
    await (value < this.pageRows ? this.#reload() : this.load())
    if (this.error.value !== '') this.newCount.value ||= value
  }

  /** Stops reading for good. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  /** Events may be missing above the newest row. */
  protected noteGap(): void {
    const now = new Date().toISOString()
    const [newest] = this.rows.value
    this.gap.value = { after: newest === undefined ? now : this.atOf(newest), before: now }
  }

  /** Reads the first page again after `ms`, but not sooner than the last reading allows, and not if an earlier reading is planned. */
  protected reloadIn(ms: number): void {
    const wait = Math.max(ms, this.#reloadedAt + RELOAD_EVERY_MS - Date.now(), 0)
    if (this.#isStopped || Date.now() + wait >= this.#reloadAt) return
    clearTimeout(this.#timer)
    this.#reloadAt = Date.now() + wait
    this.#timer = setTimeout(() => {
      this.#reloadAt = Infinity
      void this.#reload()
    }, wait)
  }

  /** Puts the first page on top of the rows. If it does not reach a known row, a gap remains between them. */
  async #reload(): Promise<void> {
    this.#reloadedAt = Date.now()
    const page = await this.#page(1)
    if (page !== null) this.take(page)
    this.planNext()
  }

  /**
   * Takes a first page that was read again, and its total. While somebody reads further down, known rows change where they are, and new ones
   * wait, so that no row leaves the pointer.
   */
  protected take({ rows: fresh, total }: Page<Row>): void {
    const old = this.rows.value
    const added = this.without(fresh, old).length
    const came = this.newCount.value + Math.max(0, total - (this.total.value ?? 0))
    const [oldest, newest] = [fresh.at(-1), old[0]]
    this.first.value = fresh
    this.total.value = total
    if (this.isAtTop) {
      if (added === this.pageRows && oldest !== undefined && newest !== undefined)
        this.gap.value = { after: this.atOf(newest), before: this.atOf(oldest) }
      const keys = new Set(fresh.map((row) => this.keyOf(row)))
      this.show([...fresh, ...old.filter((row) => !keys.has(this.keyOf(row)))])
    } else {
      const known = new Map(fresh.map((row) => [this.identityOf(row), row]))
      this.rows.value = old.map((row) => known.get(this.identityOf(row)) ?? row)
      this.newCount.value = added < this.pageRows ? added : Math.max(added, came)
    }
  }

  /** Shows rows while the newest are in sight: the oldest are given up, and loaded again when someone scrolls to them. */
  protected show(rows: readonly Row[]): void {
    const kept = rows.slice(0, MAX_ROWS)
    this.older.value = this.isByTime
      ? this.older.value + rows.length - kept.length
      : (this.total.value ?? 0) - kept.length
    this.rows.value = kept
  }

  /** Those that others do not have. */
  protected without(rows: readonly Row[], known: readonly Row[]): Row[] {
    const keys = new Set(known.map((row) => this.identityOf(row)))
    return rows.filter((row) => !keys.has(this.identityOf(row)))
  }

  async #page(page: number, endDate?: string): Promise<Page<Row> | null> {
    try {
      const answer = this.read(page, endDate)
      const read = answer && (await whileSignedIn(answer))
      this.error.value = ''
      const withNews = (row: Row): Row => this.#events.reduce((each, event) => this.after(each, event), row)
      return read && { ...read, rows: read.rows.map(withNews) }
    } catch (error) {
      this.error.value = failureText(error)
      return null
    }
  }
}
