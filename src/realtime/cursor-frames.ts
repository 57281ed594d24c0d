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
  /** All that are open. */
  sockets: Iterable<CursorSocket>
  /** Gives sockets an event that nobody has published. */
  deliver(event: GatewayEvent): void
}

export interface CursorSocket {
  /** `cursorAt`: monotonic time up to which its last cursor counts; null before it is authenticated. */
  data: { appId: string; tenantId: string; cursorAt: number | null }
  send(frame: string): unknown
}

/** A socket gets its cursors at least this far apart. */
const CURSOR_EVERY_MS = 1000
/** Events that come together share a cursor. */
const CURSOR_AFTER_MS = 50
/** Events come soon after their commit. One that is missing for so long was committed by a write that seemed to fail. */
const LATE_MS = 5000

/**
 * Tells sockets how far they have heard the log. Events are published after their commit, one by one, so this compares what was
 * published with the rows of the log: a cursor never passes an event that the sockets have not been given. Serves from the
 * moment that the first socket opens until the last one has closed.
 */
export class CursorFrames {
  /** Name of an event → how often it was published and not yet found in the log. */
  readonly #published = new Map<string, number>()
  /** Topic → monotonic time of its last event. */
  readonly #lastEvents = new Map<string, number>()
  /** Every event up to this row was published. Null until the log has been read. */
  #through: number | null = null
  readonly #reading: Promise<unknown>
  /** Since when the next row has been missing. */
  #missingSince: number | null = null
  #isPlanned = false
  #isStopped = false

  constructor(readonly context: CursorContext) {
    this.#reading = this.#readThrough().catch(() => undefined)
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Call it when an event was published. */
  note(event: GatewayEvent): void {
    const name = nameOf(event)
    this.#published.set(name, (this.#published.get(name) ?? 0) + 1)
    this.#lastEvents.set(topicOf(event), this.context.clock.monotonic())
    this.#plan(CURSOR_AFTER_MS)
  }

  /** The first cursor of a socket that has just been authenticated: everything after it will be sent. None if the storage fails. */
  async greet(socket: CursorSocket): Promise<void> {
    const { clock, events, log } = this.context
    socket.data.cursorAt = clock.monotonic()
    try {
      const [epoch, newest] = await Promise.all([events.epoch(), events.newest()])
      socket.send(frameOf(encodeCursor(epoch, { seq: newest, given: 0 })))
    } catch (error) {
      log.error({ error: errorName(error) }, 'a socket cannot be told its cursor')
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
      this.context.log.error({ error: errorName(error) }, 'sockets cannot be told their cursor, trying again')
    }
    this.#isPlanned = false
    const waitMs = this.#nextMs(now)
    if (waitMs !== null) this.#plan(waitMs)
  }

  async #sendDue(now: number): Promise<void> {
    const isUpToDate = await this.#advance()
    const cursor = encodeCursor(await this.context.events.epoch(), { seq: this.#through ?? 0, given: 0 })
    for (const socket of this.context.sockets) {
      const dueAt = this.#dueAt(socket)
      if (dueAt === null || dueAt > now) continue
      socket.data.cursorAt = now
      socket.send(frameOf(cursor))
      // Another one follows for what is missing.
      if (!isUpToDate) this.#lastEvents.set(appTopic(socket.data.appId), now)
    }
  }

  /** When a socket is due for a cursor; null if it has heard nothing since its last one. */
  #dueAt({ data: { appId, tenantId, cursorAt } }: CursorSocket): number | null {
    const ofApp = this.#lastEvents.get(appTopic(appId)) ?? -Infinity
    const ofTenant = this.#lastEvents.get(tenantTopic(tenantId)) ?? -Infinity
    return cursorAt === null || Math.max(ofApp, ofTenant) < cursorAt ? null : cursorAt + CURSOR_EVERY_MS
  }

  /** In how many milliseconds the next socket is due; null if none is. */
  #nextMs(now: number): number | null {
    let next = Infinity
    for (const socket of this.context.sockets) next = Math.min(next, this.#dueAt(socket) ?? Infinity)
    if (next !== Infinity) return Math.max(CURSOR_AFTER_MS, next - now)
    this.#lastEvents.clear()
    return null
  }

  async #readThrough(): Promise<number> {
    return (this.#through ??= await this.context.events.newest())
  }

  /** Passes the rows whose events were all published; true when it has come to the end of the log. */
  async #advance(): Promise<boolean> {
    await this.#reading
    let through = await this.#readThrough()
    for (;;) {
      const rows = await this.context.events.rowsAfter(through)
      if (rows.length === 0) return true
      for (const row of rows) {
        if (!(await this.#pass(row))) return false
        through = row.seq
        this.#through = through
      }
    }
  }

  /** False while an event of the row is still to be published. */
  async #pass(row: RowOfLog): Promise<boolean> {
    const names = namesOf(row)
    const now = this.context.clock.monotonic()
    if (names.some((name) => !this.#published.has(name))) {
      this.#missingSince ??= now
      if (now - this.#missingSince < LATE_MS) return false
      await this.#deliverMissing(row)
    }
    this.#missingSince = null
    for (const name of names) this.#found(name)
    return true
  }

  async #deliverMissing({ seq }: RowOfLog): Promise<void> {
    for (const event of await this.context.events.eventsAt(seq))
      if (!this.#published.has(nameOf(event))) this.context.deliver(event)
  }

  #found(name: string): void {
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

/** The same name for an event and for its row. An opt-out event does not name its row, so its time stands for it. */
function nameOf(event: GatewayEvent): string {
  const { timestamp } = event
  const kind = event.type === 'sms_status' ? event.status : KINDS[event.type]
  return `${kind} ${'messageId' in event ? event.messageId : timestamp}`
}

const namesOf = ({ kinds, subject, at }: RowOfLog): string[] =>
  kindsOf(kinds).map((kind) => `${kind} ${kind === 'optOut' ? isoTime(at) : subject}`)
