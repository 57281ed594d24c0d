import { signal } from '@preact/signals'
import type { MessageState, Sgw, Timeline } from '../../../client/client.ts'
import { whileSignedIn } from '../state/caller.ts'
import type { LiveEvent } from '../state/live.ts'
import { messageIdOf } from './row.ts'

/** Moving quickly through the list loads only where it rests. */
const LOAD_AFTER_MS = 120
/** Several events of one message come together. */
const RELOAD_AFTER_MS = 250
const WAITS_EVERY_MS = 15_000

/** The open message: its facts and its timeline, read again when an event is about it, and while it waits. */
export class OpenMessage {
  readonly facts = signal<MessageState | null>(null)
  readonly timeline = signal<Timeline | null>(null)
  readonly error = signal('')
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly sgw: Sgw,
    readonly id: string,
  ) {}

  /** Loads soon; the returned function ends everything. */
  start(): () => void {
    this.#plan(LOAD_AFTER_MS)
    return () => clearTimeout(this.#timer)
  }

  note(event: LiveEvent): void {
    if (messageIdOf(event) === this.id || event.type === 'gap') this.#plan(RELOAD_AFTER_MS)
  }

  #plan(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.load(), ms)
  }

  async load(): Promise<void> {
    try {
      const { sgw, id } = this
      const [facts, timeline] = await whileSignedIn(Promise.all([sgw.sms.get(id), sgw.sms.timeline(id)]))
      this.facts.value = facts
      this.timeline.value = timeline
      this.error.value = ''
      if (timeline.status === 'queued' || timeline.status === 'sending') this.#plan(WAITS_EVERY_MS)
    } catch (error) {
      this.error.value = error instanceof Error ? error.message : String(error)
    }
  }
}
