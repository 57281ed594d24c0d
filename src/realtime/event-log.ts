import type { Value } from '@libsql/client'
import type { Caller } from '../core/caller.ts'
import { apiError } from '../core/errors.ts'
import type { Gate } from '../db/gate.ts'
import type { Reader } from '../db/reader.ts'
import { EVENT_KINDS } from '../db/schema/events.ts'
import { type Epoch, type Position, decodeCursor, encodeCursor } from './cursor.ts'
import { type LoggedMessage, eventsOf } from './event.ts'
import type { GatewayEvent } from './hub.ts'

export interface EventPage {
  /** Oldest first. */
  events: GatewayEvent[]
  cursor: string
  /** Whether events after the cursor of the request may be gone. */
  gap: boolean
}

export interface EventLogContext {
  gate: Gate
  /** Reads the pages. */
  reader: Reader
  /** Calls `run` after this tick of the event loop. */
  defer(run: () => void): void
}

/** Rows that are read in one tick of the event loop: less than a millisecond if they are in memory. */
const ROWS_AT_ONCE = 500
/** Rows of one long read: some 30 ms if all are of other tenants, which then have their turn. */
const ROWS_PER_SLICE = 20_000
/** A page with events ends after this many rows. The next request continues there. */
const ROWS_PER_PAGE = 10_000

/** Reads the event log: the events that the WebSocket of an app would have received. */
export class EventLog {
  #epoch: Promise<Epoch> | null = null

  constructor(readonly context: EventLogContext) {}

  /** Returns the events after a cursor. Without a cursor it returns no events, only the current cursor. Errors: `badCursor`. */
  async page(reader: Caller, cursor: string | undefined, limit: number): Promise<EventPage> {
    const epoch = await this.epoch()
    const { oldest, newest } = await this.#bounds()
    if (cursor === undefined)
      return { events: [], cursor: encodeCursor(epoch, { seq: newest, returned: 0 }), gap: false }
    const after = decodeCursor(cursor)
    if (after === null) throw apiError('badCursor')
    // A cursor beyond the newest row is from before a restore.
    const isBeyond = after.seq + (after.returned > 0 ? 1 : 0) > newest
    const gap = after.epoch !== epoch || after.seq < oldest - 1 || isBeyond
    const start = gap ? { seq: Math.max(0, oldest - 1), returned: 0 } : after
    const { events, end, isPurged } = await this.#walk(reader, start, newest, limit)
    return { events, cursor: encodeCursor(epoch, end), gap: gap || isPurged }
  }

  /** The `seq` of the newest row; 0 if there has never been one. */
  async newest(): Promise<number> {
    return (await this.#bounds()).newest
  }

  /** The events of one row, for any app; none if its subject was deleted. */
  async eventsAt(seq: number): Promise<GatewayEvent[]> {
    const rows = await this.context.gate.values({ sql: ROW, args: [seq] })
    return rows.flatMap((values) => eventsOf(toLogged(values)))
  }

  /**
   * The next rows after `seq`, for any app. Waits a tick of the event loop, in which the code that committed them publishes
   * their events.
   */
  async rowsAfter(seq: number): Promise<RowOfLog[]> {
    const rows = await this.context.gate.values({ sql: ROWS, args: [seq] })
    await this.#nextTick()
    return rows.map(([found, kinds, subject, at]) => ({
      seq: Number(found),
      kinds: Number(kinds),
      subject: String(subject),
      at: Number(at),
    }))
  }

  /** The epoch of the current history. */
  epoch(): Promise<Epoch> {
    this.#epoch ??= readEpoch(this.context.gate).catch((error: unknown) => {
      this.#epoch = null
      throw error
    })
    return this.#epoch
  }

  /** The oldest and newest row. All rows in between exist, because the purge deletes only the oldest and keeps the newest. */
  async #bounds(): Promise<{ oldest: number; newest: number }> {
    const [row] = await this.context.gate.values('SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)')
    const [oldest, newest] = row ?? []
    return { oldest: Number(oldest ?? 1), newest: Number(newest ?? 0) }
  }

  /** Reads slices until it has events or reaches the end of the log, however many rows of other apps it must skip. */
  async #walk(reader: Caller, start: Position, newest: number, limit: number): Promise<Taken> {
    let taken: Taken = { events: [], end: start, isPurged: false }
    while (taken.end.seq < newest) {
      taken = await this.#takeSlice(reader, taken, newest, limit)
      const { events, end } = taken
      if (events.length === limit || (events.length > 0 && end.seq - start.seq >= ROWS_PER_PAGE)) break
    }
    return taken
  }

  async #takeSlice(reader: Caller, taken: Taken, newest: number, limit: number): Promise<Taken> {
    const { events, end } = taken
    const from = end.seq
    const until = Math.min(from + ROWS_PER_SLICE, newest)
    const most = limit - events.length
    const rows = await this.#slice(reader, from, until, most)
    // A purge may have deleted rows of the slice since the walk began.
    const isPurged = taken.isPurged || (await this.#bounds()).oldest - 1 > from
    for (const row of rows) {
      const returned = row.seq === end.seq + 1 ? end.returned : 0
      const own = eventsOf(row).slice(returned)
      const fitting = own.slice(0, limit - events.length)
      events.push(...fitting)
      const isComplete = fitting.length === own.length
      const position = isComplete
        ? { seq: row.seq, returned: 0 }
        : { seq: row.seq - 1, returned: returned + fitting.length }
      if (events.length === limit) return { events, end: position, isPurged }
    }
    // If the slice was cut off, there may be more rows before `until`.
    const last = rows.length === most ? rows.at(-1)?.seq : undefined
    return { events, end: { seq: last ?? until, returned: 0 }, isPurged }
  }

  #nextTick(): Promise<void> {
    return new Promise((resolve) => this.context.defer(resolve))
  }

  async #slice({ tenantId, appId }: Caller, from: number, until: number, limit: number): Promise<LoggedRow[]> {
    const rows = await this.context.reader.longRead(tenantId, SLICE, [from, until, tenantId, appId, limit])
    return rows.map((row) => toLogged(Object.values(row)))
  }
}

/** A row of the log without its subject. */
export interface RowOfLog {
  seq: number
  /** A set of `EVENT_KINDS`. */
  kinds: number
  subject: string
  /** Epoch milliseconds. */
  at: number
}

const ROWS = `SELECT seq, kinds, subject, at FROM events WHERE seq > ?1 ORDER BY seq LIMIT ${ROWS_AT_ONCE}`

/** The events of a page so far, and the position after them. */
interface Taken {
  events: GatewayEvent[]
  end: Position
  /** Whether rows were purged before they were read. */
  isPurged: boolean
}

type LoggedRow = LoggedMessage & { seq: number }

const COLUMNS = `events.seq, events.kinds, events.at, messages.id, messages.app_id, messages.tenant_id, messages.from_number,
    messages.to_number, messages.body, messages.rc_message_id, messages.error, messages.receiving_extension_id, events.detail`

/** The same columns for an opt-out: its number is `from_number`, its contact `to_number`, as in an outbound message. */
const OPT_OUT_COLUMNS = `events.seq, events.kinds, events.at, opt_outs.id, '', opt_outs.tenant_id, opt_outs.number,
    opt_outs.contact, '', NULL, NULL, NULL, events.detail`

/** Inbound messages and opt-outs are for every app of the tenant, everything else for the app that sent the message. */
const SLICE = `SELECT ${COLUMNS} FROM events CROSS JOIN messages ON messages.id = events.subject
  WHERE events.seq > ?1 AND events.seq <= ?2 AND messages.tenant_id = ?3
    AND (messages.app_id = ?4 OR events.kinds = ${EVENT_KINDS.received})
  UNION ALL
  SELECT ${OPT_OUT_COLUMNS} FROM events CROSS JOIN opt_outs ON opt_outs.id = events.subject
  WHERE events.seq > ?1 AND events.seq <= ?2 AND opt_outs.tenant_id = ?3 AND events.kinds = ${EVENT_KINDS.optOut}
  ORDER BY 1 LIMIT ?5`

const ROW = `SELECT ${COLUMNS} FROM events CROSS JOIN messages ON messages.id = events.subject WHERE events.seq = ?1
  UNION ALL SELECT ${OPT_OUT_COLUMNS} FROM events CROSS JOIN opt_outs ON opt_outs.id = events.subject WHERE events.seq = ?1`

function toLogged(values: readonly Value[]): LoggedRow {
  const [seq, kinds, at, id, appId, tenantId, from, to, body, rcMessageId, error, receivingExtensionId, detail] = values
  const textOrNull = (value: Value | undefined): string | null => (typeof value === 'string' ? value : null)
  return {
    seq: Number(seq),
    kinds: Number(kinds),
    at: Number(at),
    id: String(id),
    appId: String(appId),
    tenantId: String(tenantId),
    from: String(from),
    to: String(to),
    body: String(body),
    rcMessageId: textOrNull(rcMessageId) ?? '',
    error: textOrNull(error),
    receivingExtensionId: textOrNull(receivingExtensionId),
    detail: textOrNull(detail),
  }
}

/** The epoch is the incarnation of the database without its prefix `boot_`. A restore from a backup makes a new one. */
async function readEpoch(gate: Gate): Promise<Epoch> {
  const [row] = await gate.values(`SELECT value FROM facts WHERE name = 'incarnation'`)
  return String(row?.[0] ?? '')
    .slice(-EPOCH_DIGITS)
    .padStart(EPOCH_DIGITS, '0')
}

const EPOCH_DIGITS = 16
