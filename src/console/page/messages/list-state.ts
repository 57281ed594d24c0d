import { computed } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList, RELOAD_EVERY_MS } from '../list/paged-list.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Filter, hasText, problemOf, queryOf } from './filters.ts'
import { type ListRow, afterEvent, messageIdOf } from './row.ts'

/** While rows wait, their reasons are read again this often, because a wait has no event. */
const WAITS_EVERY_MS = 15_000

/** A webhook has no event: its answer is known when it has had its time. */
const WEBHOOK_MS = 5000

/** The messages of one filter. An event changes the row of a known message; an unknown one reloads the first page. */
export class MessageList extends PagedList<ListRow> {
  /** The rows that contain the searched text. */
  override readonly shown = computed(() => this.rows.value.filter((row) => hasText(this.filter, row.body)))

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
    readonly apps: ReadonlyMap<string, string>,
  ) {
    super()
  }

  keyOf({ messageId }: ListRow): string {
    return messageId
  }

  atOf({ createdAt }: ListRow): string {
    return createdAt
  }

  note(event: LiveEvent): void {
    if (event.type === 'gap') {
      this.noteGap()
      return this.reloadIn(0)
    }
    const id = messageIdOf(event)
    if (id === null) return
    const at = this.rows.value.findIndex(({ messageId }) => messageId === id)
    const row = this.rows.value[at]
    if (row === undefined) return this.reloadIn(0)
    const changed = afterEvent(row, event)
    if (changed !== row) this.rows.value = this.rows.value.with(at, changed)
  }

  /** Reads waits again after a while, or when the first of them ends. A row that is open without one may have one soon. */
  protected override planNext(): void {
    const open = this.rows.value.slice(0, PAGE_ROWS).filter(isOpen)
    if (open.length === 0) return
    const waits = open.flatMap(({ waiting }) => (!waiting ? [] : [waiting]))
    const ends = waits.flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until) - Date.now()]))
    const next = Math.min(WAITS_EVERY_MS, ...ends.filter((ms) => ms > 0).map((ms) => ms + 200))
    this.reloadIn(Math.max(waits.length < open.length ? 0 : next, RELOAD_EVERY_MS))
  }

  protected read(page: number, endDate?: string): Promise<Page<ListRow>> | null {
    // `EmptyView` says what is wrong with it.
    if (problemOf(this.filter) !== null) return null
    const query = { ...queryOf(this.filter, this.apps), include: 'delivery' as const, limit: PAGE_ROWS }
    const pages = this.sgw.sms.list(endDate === undefined ? query : { ...query, endDate })
    return pages.page(page).then(({ messages, total }) => ({ rows: messages, total }))
  }
}

/** Whether more can happen to a row than events tell. */
const isOpen = ({ status, createdAt }: ListRow): boolean =>
  status === 'queued' ||
  status === 'sending' ||
  (status === 'received' && Date.parse(createdAt) > Date.now() - WEBHOOK_MS)
