import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gate } from '../../db/gate.ts'
import type { Reader } from '../../db/reader.ts'
import { EVENT_KINDS } from '../../db/schema/events.ts'
import type { StoredEvents } from '../../db/stored-events.ts'
import { type Cursors, type Epoch, EPOCH_SQL, type Position, epochOf } from './cursor.ts'
import { type GatewayEvent, type LoggedRow, eventsOf } from './event.ts'
import { LOGGED_ROWS, TENANT_OF_ROW, loggedRow } from './logged-rows.ts'

export interface EventPage {
  /** Oldest first. */
  events: GatewayEvent[]
  cursor: string
  /** Whether events after the request's cursor may be gone. */
  gap: boolean
}

export interface EventLogContext {
  gate: Gate
  /** Rows after these are not returned yet. */
  storedEvents: StoredEvents
  /** Reads the pages. */
  reader: Reader
  cursors: Cursors
}

/** Rows of one long read: about 30 ms if all belong to other tenants, who then get their turn. */
const ROWS_PER_SLICE = 20_000
/** A page with events ends after this many rows. The next request continues there. */
const ROWS_PER_PAGE = 10_000
/** A page with events ends after this much text: a thousand of the longest events would hold the event loop. */
const TEXT_PER_PAGE = 100_000

/** Reads the event log: the events that the WebSocket of an app would have received. */
export class EventLog {
  constructor(readonly context: EventLogContext) {}

  /** Returns the events after a cursor. Without a cursor it returns no events, only the current cursor. Errors: `badCursor`. */
  async page(caller: Caller, cursor: string | undefined, limit: number): Promise<EventPage> {
    const { cursors } = this.context
    const { epoch, oldest, newest } = await this.#bounds()
    if (cursor === undefined)
      return { events: [], cursor: cursors.encode(epoch, { seq: newest, returned: 0 }), gap: false }
    const after = cursors.decode(cursor)
    if (after === null) throw apiError('badCursor')
    // A cursor beyond the newest row is from before a restore.
    const isBeyond = after.seq + (after.returned > 0 ? 1 : 0) > newest
    const gap = after.epoch !== epoch || after.seq < oldest - 1 || isBeyond
    const start = gap ? { seq: Math.max(0, oldest - 1), returned: 0 } : after
    const { events, end, isPurged } = await this.#walk(caller, start, newest, limit)
    return { events, cursor: cursors.encode(epoch, end), gap: gap || isPurged }
  }

  /** The oldest and the newest stored row. All rows in between exist, because the purge deletes only the oldest and keeps the newest. */
  async #bounds(): Promise<{ epoch: Epoch; oldest: number; newest: number }> {
    const { gate, storedEvents } = this.context
    const [row] = await gate.values({ sql: BOUNDS, args: [storedEvents.newest] })
    const [epoch, oldest, newest] = row ?? []
    return { epoch: epochOf(epoch), oldest: Number(oldest ?? 1), newest: Number(newest ?? 0) }
  }

  /** Reads slices until it has events or reaches the end of the log, however many rows of other apps it must skip. */
  async #walk(caller: Caller, start: Position, newest: number, limit: number): Promise<Taken> {
    let taken: Taken = { events: [], end: start, isPurged: false, isLong: false }
    while (taken.end.seq < newest) {
      taken = await this.#takeSlice(caller, taken, newest, limit)
      const { events, end } = taken
      const isFull = events.length === limit || taken.isLong
      if (isFull || (events.length > 0 && end.seq - start.seq >= ROWS_PER_PAGE)) break
    }
    return taken
  }

  async #takeSlice(caller: Caller, taken: Taken, newest: number, limit: number): Promise<Taken> {
    const { events, end } = taken
    const from = end.seq
    const until = Math.min(from + ROWS_PER_SLICE, newest)
    const most = limit - events.length
    const rows = await this.#slice(caller, from, until, most)
    // A purge may have deleted rows of the slice since the walk began.
    const isPurged = taken.isPurged || (await this.#bounds()).oldest - 1 > from
    const isLong = rows.reduce((units, { body }) => units + body.length, 0) >= TEXT_PER_PAGE
    for (const row of rows) {
      const returned = row.seq === end.seq + 1 ? end.returned : 0
      const own = eventsOf(row).slice(returned)
      const fitting = own.slice(0, limit - events.length)
      events.push(...fitting)
      const isComplete = fitting.length === own.length
      const position = isComplete
        ? { seq: row.seq, returned: 0 }
        : { seq: row.seq - 1, returned: returned + fitting.length }
      if (events.length === limit) return { events, end: position, isPurged, isLong }
    }
    // If the slice was cut off, there may be more rows before `until`.
    const last = rows.length === most || isLong ? rows.at(-1)?.seq : undefined
    return { events, end: { seq: last ?? until, returned: 0 }, isPurged, isLong }
  }

  async #slice(caller: Caller, from: number, until: number, limit: number): Promise<LoggedRow[]> {
    const { tenantId, appId, sessionId } = caller
    // An operator hears the whole tenant.
    const ofApp = sessionId === undefined ? appId : null
    const rows = await this.context.reader.longRead(tenantId, SLICE, [from, until, tenantId, ofApp, limit])
    return rows.map((row) => loggedRow(Object.values(row)))
  }
}

/** The events of a page so far, and the position after them. */
interface Taken {
  events: GatewayEvent[]
  end: Position
  /** Whether rows were purged before they were read. */
  isPurged: boolean
  /** Whether the rows already have as much text as a page may have. */
  isLong: boolean
}

const BOUNDS = `SELECT ${EPOCH_SQL}, (SELECT min(seq) FROM events), (SELECT max(seq) FROM events WHERE seq <= ?1)`

/** Inbound messages and opt-outs are for every app of the tenant, everything else for the app that sent the message. */
const ROWS = `${LOGGED_ROWS} WHERE events.seq > ?1 AND events.seq <= ?2 AND ${TENANT_OF_ROW} = ?3
    AND (?4 IS NULL OR messages.app_id = ?4 OR events.kinds IN (${EVENT_KINDS.received}, ${EVENT_KINDS.optOut}))
  ORDER BY events.seq LIMIT ?5`

/** The rows until their text fills a page, plus the one that exceeds it. SQLite counts code points, and a text has at most as many as units. */
const SLICE = `SELECT * FROM (
    SELECT *, sum(length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS text_before FROM (${ROWS})
  ) WHERE coalesce(text_before, 0) < ${TEXT_PER_PAGE}`
