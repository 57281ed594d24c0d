import { type Clock, isoTime } from '../core/clock.ts'
import { type Log, errorName } from '../core/log.ts'
import type { EventKind } from '../db/schema/events.ts'
import { encodeCursor } from './cursor.ts'
import { kindsOf } from './event.ts'
import type { EventLog, RowOfLog } from './event-log.ts'
import type { GatewayEvent } from './hub.ts'
import { appTopic, tenantTopic, topicOf } from './topics.ts'

export interface CursorContext {
  clock: Clock
  log: Log
  events: EventLog
  /** All connected sockets. */
  sockets: Iterable<CursorSocket>
  /** Sends an event that was never published to the sockets. */
  deliver(event: GatewayEvent): void
}

export interface CursorSocket {
  /** Of `SocketData`. */
  data: { appId: string; tenantId: string; cursorAt: number | null }
  send(frame: string): unknown
}

/** The least time between two cursors of a socket. */
const CURSOR_EVERY_MS = 1000
/** The delay of a cursor after an event, so that events that come together share a cursor. */
const CURSOR_AFTER_MS = 50
/** Events are published soon after their commit. One that is missing for this long was committed by a write that seemed to fail. */
const LATE_MS = 5000

/**
 * Sends cursors to sockets. Each event is published by the code that committed it, so `CursorFrames` compares the published
 * events with the rows of the log: a cursor never passes an event that the sockets have not been sent. It runs from the
 * opening of the first socket to the closing of the last one.
 */
export class CursorFrames {
  /** Name of an event → how often it was published without being found in the log yet. */
  readonly #published = new Map<string, number>()
  /** Topic → monotonic time of its last event. */
  readonly #lastEvents = new Map<string, number>()
  /** All events up to this row were published. Null until the log has been read. */
  #publishedThrough: number | null = null
  readonly #reading: Promise<unknown>
  /** When an unpublished row was first seen (monotonic time), and the newest row at that time. */
  #unpublished = { at: 0, newest: 0 }
  #isPlanned = false
  #isStopped = false

  constructor(readonly context: CursorContext) {
    this.#reading = this.#readThrough().catch(() => undefined)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Call it for every event that is published. */
  note(event: GatewayEvent): void {
    const name = nameOf(event)
    this.#published.set(name, (this.#published.get(name) ?? 0) + 1)
    this.#lastEvents.set(topicOf(event), this.context.clock.monotonic())
    this.#plan(CURSOR_AFTER_MS)
  }

  /**
   * Sends the first cursor of a socket that has just been authenticated: the socket gets all events after it. Sends none if
   * the storage fails.
   */
  async greet(socket: CursorSocket): Promise<void> {
    const { clock, events, log } = this.context
    socket.data.cursorAt = clock.monotonic()
    try {
      const [epoch, newest] = await Promise.all([events.epoch(), events.newest()])
      socket.send(frameOf(encodeCursor(epoch, { seq: newest, returned: 0 })))
    } catch (error) {
      log.error({ error: errorName(error) }, 'the first cursor of a socket cannot be read')
    }
  }

  #plan(ms: number): void {
    if (this.#isPlanned || this.#isStopped) return
    this.#isPlanned = true
    this.context.clock.after(ms, () => void this.#run())
  }

  async #run(): Promise<void> {
    const now = this.context.clock.monotonic()
    try {
      if (!this.#isStopped) await this.#sendDue(now)
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'the cursor of sockets cannot be read, trying again')
    }
    this.#isPlanned = false
    const waitMs = this.#nextMs(now)
    if (waitMs !== null) this.#plan(waitMs)
  }

  async #sendDue(now: number): Promise<void> {
    const isUpToDate = await this.#advance()
    const cursor = encodeCursor(await this.context.events.epoch(), { seq: this.#publishedThrough ?? 0, returned: 0 })
    for (const socket of this.context.sockets) {
      const dueAt = this.#dueAt(socket)
      if (dueAt === null || dueAt > now) continue
      socket.data.cursorAt = now
      socket.send(frameOf(cursor))
      // A further cursor follows for the events that are still missing.
      if (!isUpToDate) this.#lastEvents.set(appTopic(socket.data.appId), now)
    }
  }

  /** When a socket is due for a cursor; null if it got no event since its last one. */
  #dueAt({ data: { appId, tenantId, cursorAt } }: CursorSocket): number | null {
    const ofApp = this.#lastEvents.get(appTopic(appId)) ?? -Infinity
    const ofTenant = this.#lastEvents.get(tenantTopic(tenantId)) ?? -Infinity
    return cursorAt === null || Math.max(ofApp, ofTenant) < cursorAt ? null : cursorAt + CURSOR_EVERY_MS
  }

  /** Milliseconds until the next socket is due for a cursor; null if none is. */
  #nextMs(now: number): number | null {
    let next = Infinity
    for (const socket of this.context.sockets) next = Math.min(next, this.#dueAt(socket) ?? Infinity)
    if (next !== Infinity) return Math.max(CURSOR_AFTER_MS, next - now)
    this.#lastEvents.clear()
    return null
  }

  async #readThrough(): Promise<number> {
    return (this.#publishedThrough ??= await this.context.events.newest())
  }

  /** Advances over the rows whose events were all published. Returns true at the end of the log. */
  async #advance(): Promise<boolean> {
    await this.#reading
    let through = await this.#readThrough()
    for (;;) {
      const rows = await this.context.events.rowsAfter(through)
      if (rows.length === 0) return true
      for (const row of rows) {
        if (!(await this.#settle(row))) return false
        through = row.seq
        this.#publishedThrough = through
      }
    }
  }

  /** Forgets the published events of a row, and delivers late ones. Returns false while an event of the row is still to be published. */
  async #settle(row: RowOfLog): Promise<boolean> {
    const names = namesOf(row)
    if (names.some((name) => !this.#published.has(name))) {
      if (!(await this.#isLate(row))) return false
      await this.#deliverMissing(row)
    }
    for (const name of names) this.#forget(name)
    return true
  }

  /** Whether the row has been in the log for so long that its events will not be published any more. */
  async #isLate({ seq }: RowOfLog): Promise<boolean> {
    const now = this.context.clock.monotonic()
    if (seq > this.#unpublished.newest) this.#unpublished = { at: now, newest: await this.context.events.newest() }
    return now - this.#unpublished.at >= LATE_MS
  }

  async #deliverMissing({ seq }: RowOfLog): Promise<void> {
    for (const event of await this.context.events.eventsAt(seq)) {
      if (this.#published.has(nameOf(event))) continue
      this.context.deliver(event)
      this.#lastEvents.set(topicOf(event), this.context.clock.monotonic())
    }
  }

  #forget(name: string): void {
    const count = this.#published.get(name) ?? 0
    if (count > 1) this.#published.set(name, count - 1)
    else this.#published.delete(name)
  }
}

const frameOf = (cursor: string): string => JSON.stringify({ type: 'cursor', cursor })

const KINDS: Readonly<Record<string, EventKind>> = {
  sms_inbound: 'received',
  sms_delivery: 'delivery',
  opt_out: 'optOut',
}

/**
 * The name of an event, which can also be made from its row. An opt-out event has no id of its row, so it is named by its time:
 * it must be published with exactly the row's time.
 */
function nameOf(event: GatewayEvent): string {
  const { timestamp } = event
  const kind = event.type === 'sms_status' ? event.status : KINDS[event.type]
  return `${kind} ${'messageId' in event ? event.messageId : timestamp}`
}

const namesOf = ({ kinds, subject, at }: RowOfLog): string[] =>
  kindsOf(kinds).map((kind) => `${kind} ${kind === 'optOut' ? isoTime(at) : subject}`)
