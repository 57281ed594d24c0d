import { computed, signal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { problemOf } from './filter-problem.ts'
import type { LiveList } from '../list/rows.tsx'
import type { Gap } from '../list/window.ts'
import { type Filter, hasText, queryOf } from './filter.ts'
import { type ListRow, afterEvent, messageIdOf } from './row.ts'

const PAGE_ROWS = 50
/** So many rows stay while the newest are in sight. */
const MAX_ROWS = 300
/** So many new rows come in above those that somebody has scrolled to. */
const MAX_NEW = 200
/** An unknown message reloads the first page at once, then at most this often. */
const RELOAD_EVERY_MS = 4000
/** While rows wait, their reasons are read again this often, because a wait has no event. */
const WAITS_EVERY_MS = 15_000

/** A webhook has no event: its answer is known when it has had its time. */
const WEBHOOK_MS = 5000

/** Whether more can happen to a row than events tell. */
const isOpen = ({ status, createdAt }: ListRow): boolean =>
  status === 'queued' ||
  status === 'sending' ||
  (status === 'received' && Date.parse(createdAt) > Date.now() - WEBHOOK_MS)

/** The loaded rows of one filter, newest first. It loads, pages, and follows events; it knows nothing of what is visible. */
export class MessageList implements LiveList<ListRow> {
  readonly rows = signal<readonly ListRow[]>([])
  readonly total = signal<number | null>(null)
  readonly gap = signal<Gap | null>(null)
  readonly error = signal('')
  readonly isLoading = signal(true)
  /** Rows that came by events since the list was last at its top. */
  readonly newCount = signal(0)
  /** The rows that contain the searched text. */
  readonly shown = computed(() => this.rows.value.filter((row) => hasText(this.filter, row.body)))
  readonly hasMore = computed(() => this.#older.value > 0)
  /** Whether the newest rows are in sight. */
  isAtTop = true

  /** How many messages are older than the last row. */
  readonly #older = signal(0)
  /** Whether newer messages were left out, so that the rows in sight stay. */
  #isBehind = false
  #reloadedAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the first page is read again, in milliseconds. */
  #reloadAt = Infinity
  #isPaging = false

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
    readonly apps: ReadonlyMap<string, string>,
  ) {}

  keyOf({ messageId }: ListRow): string {
    return messageId
  }

  atOf({ createdAt }: ListRow): string {
    return createdAt
  }

  /** Loads the first page and forgets everything loaded before. */
  async load(): Promise<void> {
    this.isLoading.value = true
    this.gap.value = null
    const page = await this.#page(1)
    this.isLoading.value = false
    if (page === null) return
    this.#isBehind = false
    this.rows.value = page.messages
    this.total.value = page.total
    this.#older.value = page.total - page.messages.length
    this.#planWaits()
  }

  /** Loads what is older than the last row. By its time and not by a page's number, which new messages would shift. */
  async loadMore(): Promise<void> {
    const last = this.rows.value.at(-1)
    if (this.#isPaging || last === undefined || !this.hasMore.value) return
    this.#isPaging = true
    const same = this.rows.value.filter(({ createdAt }) => createdAt === last.createdAt).length
    const page = await this.#page(1 + Math.floor(same / PAGE_ROWS), last.createdAt)
    this.#isPaging = false
    // A trimmed list continues after its new end.
    if (page === null || this.rows.value.at(-1)?.messageId !== last.messageId) return
    const known = new Set(this.rows.value.map(({ messageId }) => messageId))
    const added = page.messages.filter(({ messageId }) => !known.has(messageId))
    this.rows.value = [...this.rows.value, ...added]
    this.#older.value = added.length === 0 ? 0 : page.total - same - added.length
  }

  /** The newest rows were seen. What was left out above them is loaded now. */
  seen(): void {
    this.newCount.value = 0
    if (this.#isBehind) void this.load()
  }

  /** Takes an event: changes the row of a known message, and reads the first page again for an unknown one. */
  note(event: LiveEvent): void {
    if (event.type === 'gap') return this.#noteGap()
    const id = messageIdOf(event)
    if (id === null) return
    const at = this.rows.value.findIndex(({ messageId }) => messageId === id)
    const row = this.rows.value[at]
    if (row === undefined) return this.#planReload()
    const changed = afterEvent(row, event)
    if (changed !== row) this.rows.value = this.rows.value.with(at, changed)
  }

  /** Ends the reading, for good. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#reloadAt = -Infinity
  }

  #noteGap(): void {
    const newest = this.rows.value[0]
    this.gap.value = { after: newest?.createdAt ?? new Date().toISOString(), before: new Date().toISOString() }
    this.#planReload()
  }

  #planReload(): void {
    this.#reloadIn(Math.max(0, this.#reloadedAt + RELOAD_EVERY_MS - Date.now()))
  }

  /** Reads the first page again after `ms`, unless that is planned for an earlier time. */
  #reloadIn(ms: number): void {
    const at = Date.now() + ms
    if (at >= this.#reloadAt) return
    clearTimeout(this.#timer)
    this.#reloadAt = at
    this.#timer = setTimeout(() => {
      this.#reloadAt = Infinity
      void this.#reload()
    }, ms)
  }

  /** Reads the first page and puts it on top of the rows. If it does not reach a known row, a gap remains between them. */
  async #reload(): Promise<void> {
    this.#reloadedAt = Date.now()
    const page = await this.#page(1)
    if (page === null) return this.#planWaits()
    const fresh = new Map(page.messages.map((row) => [row.messageId, row]))
    const old = this.rows.value
    const firstKnown = old.findIndex(({ messageId }) => fresh.has(messageId))
    const [oldest, newest] = [page.messages.at(-1), old[0]]
    if (firstKnown < 0 && oldest !== undefined && newest !== undefined && page.messages.length === PAGE_ROWS)
      this.gap.value = { after: newest.createdAt, before: oldest.createdAt }
    const added = page.messages.filter(({ messageId }) => !old.some((row) => row.messageId === messageId)).length
    if (this.isAtTop || this.newCount.value + added <= MAX_NEW) {
      this.#show([...page.messages, ...old.filter(({ messageId }) => !fresh.has(messageId))])
      this.newCount.value += added
    } else {
      this.#isBehind = true
      this.rows.value = old.map((row) => fresh.get(row.messageId) ?? row)
      this.newCount.value += Math.max(0, page.total - (this.total.value ?? 0))
    }
    this.total.value = page.total
    this.#planWaits()
  }

  /** Shows rows. While the newest are in sight, the oldest are given up, and loaded again when someone scrolls to them. */
  #show(rows: readonly ListRow[]): void {
    const kept = this.isAtTop ? rows.slice(0, MAX_ROWS) : rows
    this.#older.value += rows.length - kept.length
    this.rows.value = kept
  }

  /** Reads waits again after a while, or when the first of them ends. A row that is open without one may have one soon. */
  #planWaits(): void {
    const firstPage = this.rows.value.slice(0, PAGE_ROWS)
    const open = firstPage.filter(isOpen)
    if (open.length === 0) return
    const waits = open.flatMap(({ waiting }) => (!waiting ? [] : [waiting]))
    const ends = waits.flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until) - Date.now()]))
    const next = Math.min(WAITS_EVERY_MS, ...ends.filter((ms) => ms > 0).map((ms) => ms + 200))
    this.#reloadIn(Math.max(waits.length < open.length ? 0 : next, RELOAD_EVERY_MS))
  }

  async #page(page: number, endDate?: string) {
    // `EmptyList` says what is wrong with it.
    if (problemOf(this.filter) !== null) return null
    try {
      const query = { ...queryOf(this.filter, this.apps), include: 'delivery' as const, limit: PAGE_ROWS }
      const answer = await whileSignedIn(
        this.sgw.sms.list(endDate === undefined ? query : { ...query, endDate }).page(page),
      )
      this.error.value = ''
      return answer
    } catch (error) {
      this.error.value = failureText(error)
      return null
    }
  }
}
