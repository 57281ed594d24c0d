import { signal } from '@preact/signals'
import { type DeliveryAttempt, type MessageState, type Sgw, SgwError, type Timeline } from '../../../client/client.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { onEvent } from '../state/live.ts'
import { messageIdOf } from './row.ts'

/** Moving quickly through the list loads only the message where it stops. */
const LOAD_AFTER_MS = 120
/** Several events of one message arrive together. */
const RELOAD_AFTER_MS = 250
const WAITS_EVERY_MS = 15_000
const MAX_WEBHOOKS = 20
/** An attempt that somebody asked for has usually been answered after this time. */
const REDELIVERED_AFTER_MS = 1000

/** The open message: its facts, its timeline and its webhooks. Read again after an event about the message, and while it waits. */
export class OpenMessage {
  readonly facts = signal<MessageState | null>(null)
  readonly timeline = signal<Timeline | null>(null)
  /** The attempts of its webhooks, oldest first. */
  readonly webhooks = signal<readonly DeliveryAttempt[] | null>(null)
  readonly error = signal('')
  readonly isUnknown = signal(false)
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
    try {
      const { sgw, id } = this
      const [facts, timeline, { attempts }] = await whileSignedIn(
        Promise.all([
          sgw.sms.get(id),
          sgw.sms.timeline(id),
          sgw.deliveries.list({ messageId: id, limit: MAX_WEBHOOKS }).page(1),
        ]),
      )
      this.facts.value = facts
      this.timeline.value = timeline
      this.webhooks.value = attempts.toReversed()
      this.error.value = ''
      if (timeline.status === 'queued' || timeline.status === 'sending') this.#plan(WAITS_EVERY_MS)
    } catch (error) {
      this.error.value = failureText(error)
      this.isUnknown.value = error instanceof SgwError && error.status === 404
    }
  }
}
