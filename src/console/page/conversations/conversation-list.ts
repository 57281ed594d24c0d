import { computed, signal } from '@preact/signals'
import type { Conversation, Sgw } from '../../../client/client.ts'
import { PAGE_ROWS, type Page, PagedList } from '../list/paged-list.ts'
import { afterEvent, messageIdOf } from '../messages/row.ts'
import { nextReadingMs } from '../messages/wait-ends.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { Pair } from '../thread/contact-forms.ts'

export const keyOf = ({ number, contact }: Pair): string => `${number} ${contact}`

/** The conversations, the one with the newest text first. A text moves its conversation to the top. */
export class ConversationList extends PagedList<Conversation> {
  /** One that moved to the top since it was loaded can be read again further down: it is shown once. */
  override readonly shown = computed(() => {
    const keys = new Set<string>()
    return this.rows.value.filter((row) => !keys.has(keyOf(row)) && keys.add(keyOf(row)))
  })
  /** Contacts that talk with more than one of the tenant's numbers. */
  readonly severals = computed(() => {
    const contacts = this.shown.value.map(({ contact }) => contact)
    return new Set(contacts.filter((contact, index) => contacts.indexOf(contact) !== index))
  })
  protected override readonly isByTime = false
  /** How many conversations of those that the filter finds are waiting for an answer; null until it is known. */
  readonly toAnswer = signal<number | null>(null)

  constructor(
    readonly sgw: Sgw,
    /** The last digits of the contacts; '' for all contacts. */
    readonly ends: string,
  ) {
    super()
  }

  keyOf(row: Conversation): string {
    return keyOf(row)
  }

  /** With another newest text it is a new row. */
  protected override identityOf(row: Conversation): string {
    return `${keyOf(row)} ${row.lastMessage.messageId}`
  }

  atOf({ lastMessage }: Conversation): string {
    return lastMessage.createdAt
  }

  /** The state of a conversation; null if it is not loaded. */
  find(pair: Pair): Conversation | null {
    return [...this.first.value, ...this.rows.value].find((row) => keyOf(row) === keyOf(pair)) ?? null
  }

  /** Reads the first page again if a text is new, or if another number may be waiting for an answer. */
  override note(event: LiveEvent): void {
    super.note(event)
    this.first.value = this.allAfter(this.first.value, event)
    const id = messageIdOf(event)
    const isKnown = [...this.first.value, ...this.rows.value].some(({ lastMessage }) => lastMessage.messageId === id)
    const isNew = event.type === 'sms_status' && event.status === 'queued' && !isKnown
    if (isNew || ['gap', 'sms_inbound', 'opt_out'].includes(event.type)) this.reloadIn(0)
  }

  protected override after(row: Conversation, event: LiveEvent): Conversation {
    if (event.type === 'opt_out') return keyOf(row) === keyOf(event) ? { ...row, optedOut: event.optedOut } : row
    if (messageIdOf(event) !== row.lastMessage.messageId) return row
    const lastMessage = afterEvent(row.lastMessage, event)
    return lastMessage === row.lastMessage ? row : { ...row, lastMessage }
  }

  /** The reason for a wait has no event. */
  protected override planNext(): void {
    const open = this.first.value.filter(({ lastMessage: { status } }) => status === 'queued' || status === 'sending')
    if (open.length > 0) this.reloadIn(nextReadingMs(open.map(({ lastMessage }) => lastMessage)))
  }

  protected async read(page: number): Promise<Page<Conversation>> {
    const filter = { contactEndsWith: this.ends, limit: PAGE_ROWS, include: 'delivery' } as const
    const { conversations, total, toAnswer } = await this.sgw.conversations(filter).page(page)
    this.toAnswer.value = toAnswer
    return { rows: conversations, total }
  }
}
