import { computed, signal } from '@preact/signals'
import type { Conversation, Sgw } from '../../../client/client.ts'
import type { LiveList } from '../list/rows.tsx'
import type { Gap } from '../list/window.ts'
import { messageIdOf } from '../messages/row.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { Pair } from '../thread/pair.ts'

const PAGE_ROWS = 50
/** So many rows stay while the newest are in sight. */
const MAX_ROWS = 300
/** What is new reloads the first page at once, then at most this often. */
const RELOAD_EVERY_MS = 4000

/** A conversation of the list. */
export type ListedConversation = Conversation

/** Tells conversations apart. */
export const keyOf = ({ number, contact }: Pair): string => `${number} ${contact}`

/**
 * The loaded conversations, the one with the newest text first. A text moves its conversation to the top: while somebody reads further
 * down, that waits, so that no row leaves the pointer.
 */
export class ConversationList implements LiveList<ListedConversation> {
  readonly rows = signal<readonly ListedConversation[]>([])
  readonly shown = this.rows
  readonly total = signal<number | null>(null)
  /** The first page is how things stand now, so nothing is missing in between. */
  readonly gap = signal<Gap | null>(null)
  readonly error = signal('')
  readonly isLoading = signal(true)
  readonly newCount = signal(0)
  readonly hasMore = computed(() => !this.#isEnd.value && this.rows.value.length < (this.total.value ?? 0))
  isAtTop = true
  /** Contacts that talk with more than one of our numbers. */
  readonly severals = computed(() => {
    const contacts = this.rows.value.map(({ contact }) => contact)
    return new Set(contacts.filter((contact, index) => contacts.indexOf(contact) !== index))
  })

  readonly #isEnd = signal(false)
  /** The first page as it was last read. The rows can be behind it. */
  readonly #first = signal<readonly ListedConversation[]>([])
  #isBehind = false
  #isPaging = false
  #reloadedAt = -Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(readonly sgw: Sgw) {}

  keyOf(row: ListedConversation): string {
    return keyOf(row)
  }

  atOf({ lastMessage }: ListedConversation): string {
    return lastMessage.createdAt
  }

  /** How a conversation stands; null if it is not loaded. */
  find(pair: Pair): ListedConversation | null {
    const isIt = (row: ListedConversation): boolean => keyOf(row) === keyOf(pair)
    return this.#first.value.find(isIt) ?? this.rows.value.find(isIt) ?? null
  }

  /** Loads the first page and forgets everything loaded before. */
  async load(): Promise<void> {
    this.isLoading.value = true
    const page = await this.#page(1)
    this.isLoading.value = false
    if (page === null) return
    this.#isEnd.value = false
    this.newCount.value = 0
    this.#first.value = page.conversations
    this.rows.value = page.conversations
    this.total.value = page.total
  }

  /** Loads what follows the last row. New texts move rows down, so a page repeats some rows and leaves out none. */
  async loadMore(): Promise<void> {
    if (this.#isPaging || !this.hasMore.value) return
    this.#isPaging = true
    const page = await this.#page(1 + Math.floor(this.rows.value.length / PAGE_ROWS))
    this.#isPaging = false
    if (page === null) return
    const known = new Set(this.rows.value.map(keyOf))
    const added = page.conversations.filter((row) => !known.has(keyOf(row)))
    this.#isEnd.value = added.length === 0
    this.rows.value = [...this.rows.value, ...added]
  }

  /** The newest rows are in sight. What came meanwhile is shown now. */
  seen(): void {
    this.newCount.value = 0
    if (this.#isBehind) this.#show()
  }

  /** Takes an event: changes the row that it is about, and reads the first page again for a text that is new. */
  note(event: LiveEvent): void {
    if (event.type === 'opt_out')
      return this.#change((row) => (keyOf(row) === keyOf(event) ? { ...row, optedOut: event.optedOut } : row))
    if (event.type === 'sms_delivery') {
      const { deliveryStatus } = event
      return this.#changeLast(messageIdOf(event), { deliveryStatus })
    }
    const isNew = event.type === 'gap' || event.type === 'sms_inbound'
    if (isNew || (event.type === 'sms_status' && !this.#takeStatus(event) && event.status === 'queued'))
      this.#planReload()
  }

  /** Changes the state of a conversation's newest text; false if it is the newest of none. */
  #takeStatus(event: Extract<LiveEvent, { type: 'sms_status' }>): boolean {
    const isIt = ({ lastMessage }: ListedConversation): boolean => lastMessage.messageId === messageIdOf(event)
    if (![...this.#first.value, ...this.rows.value].some(isIt)) return false
    const { status, error = null } = event
    this.#changeLast(messageIdOf(event), { status, error })
    return true
  }

  #changeLast(id: string | null, changes: Partial<ListedConversation['lastMessage']>): void {
    this.#change((row) =>
      row.lastMessage.messageId === id ? { ...row, lastMessage: { ...row.lastMessage, ...changes } } : row,
    )
  }

  #change(change: (row: ListedConversation) => ListedConversation): void {
    this.#first.value = this.#first.value.map(change)
    this.rows.value = this.rows.value.map(change)
  }

  catchUp(): void {
    this.#planReload()
  }

  /** Reads the first page again, as soon as the last reading is long enough ago. */
  #planReload(): void {
    this.#timer ??= setTimeout(() => void this.#reload(), Math.max(0, this.#reloadedAt + RELOAD_EVERY_MS - Date.now()))
  }

  async #reload(): Promise<void> {
    this.#timer = undefined
    this.#reloadedAt = Date.now()
    const page = await this.#page(1)
    if (page === null) return
    this.#first.value = page.conversations
    this.total.value = page.total
    if (this.isAtTop) return this.#show()
    this.#isBehind = true
    const known = new Map(this.rows.value.map((row) => [keyOf(row), row.lastMessage.messageId]))
    this.newCount.value = page.conversations.filter((row) => known.get(keyOf(row)) !== row.lastMessage.messageId).length
  }

  /** Puts the first page on top of the rows. Where more is new than a page holds, those below are loaded again. */
  #show(): void {
    const first = this.#first.value
    const fresh = new Map(first.map((row) => [keyOf(row), row.lastMessage.messageId]))
    const old = this.rows.value
    const isJoined = old.some((row) => fresh.get(keyOf(row)) === row.lastMessage.messageId)
    const below = isJoined ? old.filter((row) => !fresh.has(keyOf(row))) : []
    this.rows.value = [...first, ...below].slice(0, MAX_ROWS)
    this.#isEnd.value = false
    this.#isBehind = false
  }

  /** Ends the reading, for good. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  async #page(page: number) {
    try {
      const answer = await whileSignedIn(this.sgw.conversations({ limit: PAGE_ROWS, include: 'delivery' }).page(page))
      this.error.value = ''
      return answer
    } catch (error) {
      this.error.value = failureText(error)
      return null
    }
  }
}
