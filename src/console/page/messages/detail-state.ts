import type { DeliveryAttempt, MessageState, Sgw, Timeline } from '../../../client/client.ts'
import { failureText } from '../state/failure.ts'
import { onEvent } from '../state/live.ts'
import { loadingOf } from '../state/loading.ts'
import { messageIdOf } from './row.ts'

/** Moving quickly through the list loads only the message where it stops. */
const LOAD_AFTER_MS = 120
/** Several events of one message arrive together. */
const RELOAD_AFTER_MS = 250
const WAITS_EVERY_MS = 15_000
const MAX_WEBHOOKS = 20
/** An attempt that somebody asked for has usually been answered after this time. */
const REDELIVERED_AFTER_MS = 1000

/** What is known about a message. */
export interface Opened {
  facts: MessageState
  timeline: Timeline
  /** The attempts of its webhooks, oldest first. */
  webhooks: readonly DeliveryAttempt[]
}

/** The open message. Read again after an event about it, and while it waits. */
export class OpenMessage {
  readonly #loading = loadingOf(() => this.#read())
  readonly known = this.#loading.value
  readonly error = this.#loading.error
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(
    readonly sgw: Sgw,
    readonly id: string,
  ) {}

  /** Loads soon, and after events; the returned function ends everything. */
  follow(): () => void {
    this.#plan(LOAD_AFTER_MS)
    const ignore = onEvent((event) => {
      if (messageIdOf(event) === this.id || event.type === 'gap') this.#plan(RELOAD_AFTER_MS)
    })
    return () => {
      ignore()
      this.#isOver = true
      clearTimeout(this.#timer)
    }
  }

  #plan(ms: number): void {
    if (this.#isOver) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#load(), ms)
  }

  /** Makes one more attempt of a webhook, and shows it. */
  async redeliver(deliveryId: string): Promise<void> {
    try {
      await this.sgw.deliveries.redeliver(deliveryId)
      this.#plan(REDELIVERED_AFTER_MS)
    } catch (error) {
      this.error.value = failureText(error)
    }
  }

  async #load(): Promise<void> {
    await this.#loading.load()
    const status = this.known.value?.timeline.status
    if (status === 'queued' || status === 'sending') this.#plan(WAITS_EVERY_MS)
  }

  async #read(): Promise<Opened> {
    const { sgw, id } = this
    const [facts, timeline, { attempts }] = await Promise.all([
      sgw.sms.get(id),
      sgw.sms.timeline(id),
      sgw.deliveries.list({ messageId: id, limit: MAX_WEBHOOKS }).page(1),
    ])
    return { facts, timeline, webhooks: attempts.toReversed() }
  }
}
