import { computed, signal } from '@preact/signals'
import type { Conversation, Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList } from '../list/paged-list.ts'
import { afterEvent, messageIdOf } from '../messages/row.ts'
import { nextReadingMs } from '../messages/wait-ends.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { Pair } from '../thread/pair.ts'

/** A conversation of the list. */
export type ListedConversation = Conversation

/** Identifies a conversation. */
export const keyOf = ({ number, contact }: Pair): string => `${number} ${contact}`

/**
 * The conversations, the one with the newest text first. A text moves its conversation to the top, but not while somebody is reading further
 * down, so that no row moves away from the pointer.
 */
export class ConversationList extends PagedList<ListedConversation> {
  /** Contacts that talk with more than one of the tenant's numbers. */
  readonly severals = computed(() => {
    const contacts = this.rows.value.map(({ contact }) => contact)
    return new Set(contacts.filter((contact, index) => contacts.indexOf(contact) !== index))
  })
  protected override readonly isByTime = false
  /** The first page at its last reading. The rows can be older. */
  readonly #first = signal<readonly ListedConversation[]>([])

  /** How many conversations of those that the filter finds are waiting for an answer; null until it is known. */
  readonly toAnswer = signal<number | null>(null)

  constructor(
    readonly sgw: Sgw,
    /** The last digits of the contacts; '' for all contacts. */
    readonly ends: string,
  ) {
    super()
  }

  keyOf(row: ListedConversation): string {
    return keyOf(row)
  }

  atOf({ lastMessage }: ListedConversation): string {
    return lastMessage.createdAt
  }

  /** The state of a conversation; null if it is not loaded. */
  find(pair: Pair): ListedConversation | null {
    const isIt = (row: ListedConversation): boolean => keyOf(row) === keyOf(pair)
    return this.#first.value.find(isIt) ?? this.rows.value.find(isIt) ?? null
  }

  /** Changes the row that an event is about, and reads the first page again if the text is new. */
  note(event: LiveEvent): void {
    if (event.type === 'opt_out') {
      this.#change((row) => (keyOf(row) === keyOf(event) ? { ...row, optedOut: event.optedOut } : row))
      // Another number is waiting for an answer.
      return this.reloadIn(0)
    }
    const isKnown = this.#takeState(event)
    const isNew = event.type === 'gap' || event.type === 'sms_inbound'
    if (isNew || (event.type === 'sms_status' && !isKnown && event.status === 'queued')) this.reloadIn(0)
  }

  /** Changes the state of a conversation's newest text; false if it is the newest of none. */
  #takeState(event: LiveEvent): boolean {
    const id = messageIdOf(event)
    const isIt = ({ lastMessage }: ListedConversation): boolean => lastMessage.messageId === id
    if (id === null || ![...this.#first.value, ...this.rows.value].some(isIt)) return false
    this.#change((row) => (isIt(row) ? { ...row, lastMessage: afterEvent(row.lastMessage, event) } : row))
    return true
  }

  /** The reason for a wait has no event. */
  protected override planNext(): void {
    const open = this.#first.value.filter(({ lastMessage: { status } }) => status === 'queued' || status === 'sending')
    if (open.length > 0) this.reloadIn(nextReadingMs(open.map(({ lastMessage }) => lastMessage)))
  }

  #change(change: (row: ListedConversation) => ListedConversation): void {
    this.#first.value = this.#first.value.map(change)
    this.rows.value = this.rows.value.map(change)
  }

  override async load(): Promise<void> {
    await super.load()
    if (this.isBehind || this.isLoading.value) return
    this.newCount.value = 0
    this.#first.value = this.rows.value.slice(0, PAGE_ROWS)
    this.planNext()
  }

  /** Shows what arrived in the meantime. */
  override seen(): void {
    this.newCount.value = 0
    if (this.isBehind) this.#showNewest()
  }

  protected override take({ rows, total }: Page<ListedConversation>): void {
    this.#first.value = rows
    this.total.value = total
    if (this.isAtTop) return this.#showNewest()
    this.isBehind = true
    this.newCount.value = this.#changed(rows, this.rows.value).length
  }

  /** Puts the first page on top of the rows. If there is more news than fits on a page, reloads the rows below. */
  #showNewest(): void {
    const first = this.#first.value
    const old = this.rows.value
    const isJoined = this.#changed(old, first).length < old.length
    this.show([...first, ...(isJoined ? this.without(old, first) : [])])
    this.older.value = (this.total.value ?? 0) - this.rows.value.length
    this.isBehind = false
  }

  /** The rows that the others lack, or have with a different newest text. */
  #changed(rows: readonly ListedConversation[], others: readonly ListedConversation[]): ListedConversation[] {
    const known = new Map(others.map((row) => [keyOf(row), row.lastMessage.messageId]))
    return rows.filter((row) => known.get(keyOf(row)) !== row.lastMessage.messageId)
  }

  protected async read(page: number): Promise<Page<ListedConversation>> {
    const filter = { contactEndsWith: this.ends, limit: PAGE_ROWS, include: 'delivery' } as const
    const { conversations, total, toAnswer } = await this.sgw.conversations(filter).page(page)
    this.toAnswer.value = toAnswer
    return { rows: conversations, total }
  }
}
