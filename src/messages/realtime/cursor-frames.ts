import type { Clock } from '../../core/clock.ts'
import { type Log, errorName } from '../../core/log.ts'
import type { Cursors } from './cursor.ts'
import type { Hub, Progress } from './hub.ts'

export interface CursorContext {
  clock: Clock
  log: Log
  hub: Hub
  cursors: Cursors
  sockets: { of(tenantId: string): Iterable<CursorSocket> }
}

export interface CursorSocket {
  /** Of `SocketData`. */
  data: { tenantId: string; cursor: SentCursor }
  send(frame: string): unknown
}

/** The last cursor that was sent to a socket. */
export interface SentCursor {
  seq: number
  /** Monotonic time. */
  at: number
}

/** The minimum time between two cursors of a socket. */
const CURSOR_EVERY_MS = 1000
/** The delay of a cursor after an event, so that events that arrive together share a cursor. */
const CURSOR_AFTER_MS = 50

/** Sends sockets their cursor after events of their tenant: how far the hub has published the log. */
export class CursorFrames {
  /** Tenant → the row of its newest event. A socket whose cursor is before that row is due for another. */
  readonly #newest = new Map<string, number>()
  #isPlanned = false

  constructor(readonly context: CursorContext) {}

  /** Sends the current cursor. The sockets get all events after it. */
  send(sockets: readonly CursorSocket[], { epoch, seq }: Progress): void {
    const at = this.context.clock.monotonic()
    const cursor = this.context.cursors.encode(epoch, { seq, returned: 0 })
    const frame = JSON.stringify({ type: 'cursor', cursor })
    for (const socket of sockets) {
      socket.data.cursor = { seq, at }
      socket.send(frame)
    }
  }

  /** Call it for every event that is published. */
  note(tenantId: string, seq: number): void {
    this.#newest.set(tenantId, seq)
    this.#plan(CURSOR_AFTER_MS)
  }

  #plan(ms: number): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.context.clock.after(ms, () => void this.#run())
  }

  async #run(): Promise<void> {
    try {
      const progress = await this.context.hub.ready()
      const now = this.context.clock.monotonic()
      this.send(
        this.#behind().filter(({ data }) => data.cursor.at + CURSOR_EVERY_MS <= now),
        progress,
      )
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'the cursor of sockets cannot be read, trying again')
    }
    this.#isPlanned = false
    const waitMs = this.#nextMs()
    if (waitMs !== null) this.#plan(waitMs)
  }

  /** The sockets whose tenant had an event since their last cursor. */
  #behind(): CursorSocket[] {
    return [...this.#newest].flatMap(([tenantId, newest]) =>
      [...this.context.sockets.of(tenantId)].filter(({ data }) => data.cursor.seq < newest),
    )
  }

  /** Milliseconds until the next socket is due for a cursor; null if none is. */
  #nextMs(): number | null {
    const oldest = this.#behind().reduce((at, { data }) => Math.min(at, data.cursor.at), Infinity)
    if (oldest !== Infinity) return Math.max(CURSOR_AFTER_MS, oldest + CURSOR_EVERY_MS - this.context.clock.monotonic())
    this.#newest.clear()
    return null
  }
}
