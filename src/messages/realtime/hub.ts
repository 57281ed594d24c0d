import type { Clock } from '../../core/clock.ts'
import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { type Log, errorName } from '../../core/log.ts'
import type { Database } from '../../db/database.ts'
import { type Epoch, EPOCH_SQL, epochOf } from './cursor.ts'
import { type GatewayEvent, type LoggedRow, eventsOf } from './event.ts'
import { LOGGED_ROWS, loggedRow } from './logged-rows.ts'

export interface HubContext {
  clock: Clock
  log: Log
  database: Pick<Database, 'gate' | 'writer' | 'storedEvents'>
  /** Calls `run` after this tick of the event loop. */
  defer(run: () => void): void
}

/** `row`: the row of the log that the event comes from. */
type Listener = (event: GatewayEvent, row: LoggedRow) => void

/** How far the log has been published: all events of the rows up to `seq`. */
export interface Progress {
  epoch: Epoch
  seq: number
}

/** Whose sockets a revocation closes. `sessionId` null: the sessions of all operators. */
export type RevokedScope = { appId: string } | { tenantId: string } | { sessionId: string | null }

/** Rows published in one tick of the event loop. */
const ROWS_AT_ONCE = 200

/**
 * Publishes events to listeners: after each commit, it reads the new rows of the event log, so listeners get exactly the events of the log, in
 * order. If a replica must have rows first, they are published when it has them. Reads nothing while nobody listens. Also passes on revocations
 * of keys.
 */
export class Hub {
  readonly #listeners = new Set<Listener>()
  readonly #revocations = new Set<(scope: RevokedScope) => void>()
  #progress: Promise<Progress> | null = null
  #isReading = false
  #hasNewRows = false

  constructor(readonly context: HubContext) {
    context.database.writer.onCommit(() => this.#committed())
    context.database.storedEvents.onStored(() => this.#committed())
  }

  /** Calls the listener for every event of every tenant that is committed from now on; the returned function stops this. */
  subscribe(listener: Listener): () => void {
    if (this.#listeners.size === 0) this.#progress = null
    this.#listeners.add(listener)
    // If the storage fails, the next commit reads it again.
    this.ready().catch(() => undefined)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Resolves when the hub knows where the log ended as the first listener subscribed. The object is updated as events are published. Errors: the
   * storage's.
   */
  ready(): Promise<Progress> {
    if (this.#progress !== null) return this.#progress
    const progress = this.#readEnd().catch((error: unknown) => {
      if (this.#progress === progress) this.#progress = null
      throw error
    })
    this.#progress = progress
    return progress
  }

  /** Whether there is a listener. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  /** Call when an app's key or all keys of a tenant become invalid: sockets that use them are closed. */
  revoke(scope: RevokedScope): void {
    for (const listener of this.#revocations) listener(scope)
  }

  onRevoke(listener: (scope: RevokedScope) => void): void {
    this.#revocations.add(listener)
  }

  #committed(): void {
    if (!this.hasListeners) return
    this.#hasNewRows = true
    if (!this.#isReading) void this.#publishNew()
  }

  async #publishNew(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#hasNewRows && this.hasListeners) {
        this.#hasNewRows = false
        await this.#publishRows()
      }
    } catch (error) {
      this.context.log.error({ error: errorName(error) }, 'the event log cannot be read, trying again')
      this.context.clock.after(RETRY_AFTER_FAULT_MS, () => this.#committed())
    } finally {
      this.#isReading = false
    }
  }

  async #publishRows(): Promise<void> {
    const { database, defer } = this.context
    const ready = this.ready()
    const progress = await ready
    const rows = await database.gate.values({ sql: NEW_ROWS, args: [progress.seq, database.storedEvents.newest] })
    // The listeners have left, and new ones have come.
    if (ready !== this.#progress) return
    for (const values of rows) {
      // First, so that a row that cannot be published is not retried forever.
      progress.seq = Number(values[0])
      this.#publish(loggedRow(values))
    }
    if (rows.length < ROWS_AT_ONCE) return
    this.#hasNewRows = true
    await new Promise<void>((resolve) => defer(resolve))
  }

  #publish(row: LoggedRow): void {
    for (const event of eventsOf(row)) for (const listener of this.#listeners) listener(event, row)
  }

  async #readEnd(): Promise<Progress> {
    const { gate, storedEvents } = this.context.database
    const [row] = await gate.values({ sql: END, args: [storedEvents.newest] })
    return { epoch: epochOf(row?.[0]), seq: Number(row?.[1] ?? 0) }
  }
}

const NEW_ROWS = `${LOGGED_ROWS} WHERE events.seq > ?1 AND events.seq <= ?2 ORDER BY events.seq LIMIT ${ROWS_AT_ONCE}`

const END = `SELECT ${EPOCH_SQL}, (SELECT max(seq) FROM events WHERE seq <= ?1)`
