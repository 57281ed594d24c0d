import { computed, signal } from '@preact/signals'
import type { Message, Sgw } from '../../../client/client.ts'
import { afterEvent, messageIdOf } from '../messages/row.ts'
import type { Followed } from '../parts/following.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { Pair } from './contact-forms.ts'

const PAGE_MESSAGES = 20
/** Events of one text arrive together. */
export const READ_AFTER_MS = 150
/** How many of the newest events are kept: an answer that was read before them lacks them. */
const KEPT_EVENTS = 50

/** The loaded messages between one of the tenant's numbers and one contact. Calls that fail leave a sentence in `error`. */
export abstract class MessagesOfPair implements Pair, Followed {
  /** Oldest first, without a gap up to the newest. */
  readonly messages = signal<readonly Message[]>([])
  /** Why the last call failed, as a sentence; '' if it did not. */
  readonly error = signal('')
  readonly isLoaded = signal(false)
  readonly hasOlder = computed(() => this.#total.value > this.messages.value.length)
  readonly #total = signal(0)
  #isReadingOlder = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #readAt = Infinity
  #isStopped = false
  #newestEvents: readonly LiveEvent[] = []

  constructor(
    readonly sgw: Sgw,
    readonly number: string,
    readonly contact: string,
  ) {}

  abstract note(event: LiveEvent): void

  async load(): Promise<void> {
    clearTimeout(this.#timer)
    this.#readAt = Infinity
    await this.attempt(() => this.read())
  }

  /** Reads again after `ms`, unless an earlier reading is planned. */
  protected plan(ms: number): void {
    const at = Date.now() + ms
    if (this.#isStopped || at >= this.#readAt) return
    clearTimeout(this.#timer)
    this.#readAt = at
    this.#timer = setTimeout(() => void this.load(), ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#isStopped = true
  }

  protected isOf({ number, contact }: Pair): boolean {
    return number === this.number && contact === this.contact
  }

  catchUp(): void {
    void this.load()
  }

  /** Loads the page before the oldest message, by its time. New messages would shift page numbers. */
  async readOlder(): Promise<void> {
    const [first] = this.messages.value
    if (first === undefined || this.#isReadingOlder) return
    this.#isReadingOlder = true
    await this.attempt(async () => {
      const same = this.messages.value.filter(({ createdAt }) => createdAt === first.createdAt).length
      const page = await this.#page(1 + Math.floor(same / PAGE_MESSAGES), first.createdAt)
      const known = new Set(this.messages.value.map(({ messageId }) => messageId))
      const added = page.messages.toReversed().filter(({ messageId }) => !known.has(messageId))
      this.messages.value = [...added, ...this.messages.value]
      if (added.length === 0) this.#total.value = this.messages.value.length
    })
    this.#isReadingOlder = false
  }

  /** Changes a known message according to an event. */
  protected take(event: LiveEvent): void {
    this.#newestEvents = [...this.#newestEvents, event].slice(-KEPT_EVENTS)
    this.#apply(event)
  }

  #apply(event: LiveEvent): void {
    const id = messageIdOf(event)
    const at = this.messages.value.findIndex(({ messageId }) => messageId === id)
    const message = this.messages.value[at]
    const changed = message && afterEvent(message, event)
    if (changed !== undefined && changed !== message) this.messages.value = this.messages.value.with(at, changed)
  }

  /** Reads the newest page. Older messages stay, unless more have arrived than fit on a page. */
  protected async read(): Promise<void> {
    const { messages, total } = await this.#page(1)
    const fresh = new Set(messages.map(({ messageId }) => messageId))
    const known = this.messages.value
    const joinedAt = known.findIndex(({ messageId }) => fresh.has(messageId))
    this.messages.value = [...known.slice(0, Math.max(0, joinedAt)), ...messages.toReversed()]
    this.#newestEvents.forEach((event) => this.#apply(event))
    this.#total.value = total
    this.isLoaded.value = true
  }

  protected async attempt(run: () => Promise<void>): Promise<void> {
    try {
      await whileSignedIn(run())
      this.error.value = ''
    } catch (error) {
      this.error.value = failureText(error)
    }
  }

  #page(page: number, endDate?: string) {
    const { sgw, number, contact } = this
    return sgw.sms.list({ number, contact, include: 'delivery', limit: PAGE_MESSAGES, endDate }).page(page)
  }
}
