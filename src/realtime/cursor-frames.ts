import type { Clock } from '../core/clock.ts'
import { type Log, errorName } from '../core/log.ts'
import type { Cursors } from './cursor.ts'
import type { Hub, Progress } from './hub.ts'

export interface CursorContext {
  clock: Clock
  log: Log
  hub: Hub
  cursors: Cursors
  /** All authenticated sockets. */
  sockets(): Iterable<CursorSocket>
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

/** The least time between two cursors of a socket. */
const CURSOR_EVERY_MS = 1000
/** The delay of a cursor after an event, so that events that come together share a cursor. */
const CURSOR_AFTER_MS = 50

/** Sends sockets their cursor after events of their tenant: how far the hub has published the log. */
export class CursorFrames {
  /** Tenant → the row of its newest event. A socket whose cursor is before that row is due for another. */
  readonly #newest = new Map<string, number>()
  #isPlanned = false

  constructor(readonly context: CursorContext) {}

  /** Sends the cursor of the present. The sockets get all events after it. */
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
      const due = [...this.context.sockets()].filter((socket) => this.#dueAt(socket) <= now)
      this.send(due, progress)
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'the cursor of sockets cannot be read, trying again')
    }
    this.#isPlanned = false
    const waitMs = this.#nextMs()
    if (waitMs !== null) this.#plan(waitMs)
  }

  /** When a socket is due for a cursor; Infinity if its tenant had no event since its last one. */
  #dueAt({ data: { tenantId, cursor } }: CursorSocket): number {
    return cursor.seq < (this.#newest.get(tenantId) ?? 0) ? cursor.at + CURSOR_EVERY_MS : Infinity
  }

  /** Milliseconds until the next socket is due for a cursor; null if none is. */
  #nextMs(): number | null {
    let next = Infinity
    for (const socket of this.context.sockets()) next = Math.min(next, this.#dueAt(socket))
    if (next !== Infinity) return Math.max(CURSOR_AFTER_MS, next - this.context.clock.monotonic())
    this.#newest.clear()
    return null
  }
}
