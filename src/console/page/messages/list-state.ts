import { computed } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList } from '../list/paged-list.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Filter, hasText, isValid, queryOf } from './filters.ts'
import { type ListRow, afterEvent, messageIdOf } from './row.ts'
import { nextReadingMs } from './wait-ends.ts'

/** This many messages are read at once when searching for a text, which is the maximum of the API. */
const LOOKED_ROWS = 100

/** A webhook has no event: its answer is known when its time is over. */
const WEBHOOK_MS = 5000

/** The messages of one filter. An event changes the row of a known message; an unknown one reloads the first page. */
export class MessageList extends PagedList<ListRow> {
  override readonly shown = computed(() => this.rows.value.filter((row) => hasText(this.filter, row.body)))

  constructor(
    readonly sgw: Sgw,
    readonly filter: Filter,
    readonly apps: ReadonlyMap<string, string>,
  ) {
    super()
    if (filter.text !== undefined) this.pageRows = LOOKED_ROWS
  }

  /** Messages that were searched are not dropped. */
  protected override show(rows: readonly ListRow[]): void {
    if (this.filter.text === undefined) super.show(rows)
    else this.rows.value = rows
  }

  keyOf({ messageId }: ListRow): string {
    return messageId
  }

  atOf({ createdAt }: ListRow): string {
    return createdAt
  }

  override note(event: LiveEvent): void {
    super.note(event)
    const id = messageIdOf(event)
    if (event.type === 'gap') this.noteGap()
    else if (id === null || this.rows.value.some(({ messageId }) => messageId === id)) return
    this.reloadIn(0)
  }

  protected override after(row: ListRow, event: LiveEvent): ListRow {
    return messageIdOf(event) === row.messageId ? afterEvent(row, event) : row
  }

  /** Reads waits again after a while, or when the first of them ends. An open row without a wait may soon have one. */
  protected override planNext(): void {
    const open = this.rows.value.slice(0, PAGE_ROWS).filter(isOpen)
    if (open.length > 0) this.reloadIn(nextReadingMs(open))
  }

  protected read(page: number, endDate?: string): Promise<Page<ListRow>> | null {
    // `EmptyView` says what is wrong with it.
    if (!isValid(this.filter)) return null
    const query = { ...queryOf(this.filter, this.apps), include: 'delivery' as const, limit: this.pageRows }
    const pages = this.sgw.sms.list(endDate === undefined ? query : { ...query, endDate })
    return pages.page(page).then(({ messages, total }) => ({ rows: messages, total }))
  }
}

/** Whether more can happen to a row than events report. */
const isOpen = ({ status, createdAt }: ListRow): boolean =>
  status === 'queued' ||
  status === 'sending' ||
  (status === 'received' && Date.parse(createdAt) > Date.now() - WEBHOOK_MS)
