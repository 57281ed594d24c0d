import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { Result, Row } from '../../db/connection.ts'
import { scheduleOperation } from './accept-media-rows.ts'
import { type ScheduledMessage, type Stored, storedOf } from './accept-rows.ts'
import type { SendingContext } from './context.ts'
import type { NumberLookups } from './number-lookups.ts'
import { newEntry } from './number-queue.ts'
import { IS_QUARANTINED } from './quarantine.ts'
import type { Scheduler } from './scheduler.ts'

/** A commit of this many rows takes about 3 ms of the event loop. */
const ROWS_AT_ONCE = 100
/** Small enough that a tenant with many due messages leaves room for others. */
const ROWS_IN_TURN = 50
const MAX_ENTERING_MS = 1000
/**
 * How often to look for due messages while any is scheduled. A timer that waits for a message's time would be wrong each time somebody sets
 * the wall clock.
 */
const LOOK_EVERY_MS = 1000
/** The interval while none is known. */
const IDLE_LOOK_EVERY_MS = 60_000

/**
 * Messages with a `sendAt` in the future. Each has a `schedule` job. When its time comes, one commit replaces that job with a
 * send job, so the message enters its queue behind all earlier ones. Times are of the wall clock, as `sendAt` is.
 */
export class ScheduledMessages {
  #cancelAlarm: () => void = () => undefined
  /** The earliest time known, epoch milliseconds. */
  #nextAt = Infinity
  #entering: Promise<void> | null = null
  #isStopped = true

  constructor(
    readonly context: SendingContext,
    readonly scheduler: Scheduler,
    readonly numberLookups: NumberLookups,
  ) {}

  start(): void {
    this.#isStopped = false
    void this.#ring()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelAlarm()
    await this.#entering
  }

  /** Accepts a message. Resolves when it is on disk, with its `schedule` job. */
  async accept(message: ScheduledMessage): Promise<Stored> {
    const rows = await this.context.database.writer.row(scheduleOperation(message), message)
    const stored = storedOf(message, rows)
    if (stored.jobSeq === null) return stored
    if (message.sendAt < this.#nextAt) {
      this.#nextAt = message.sendAt
      this.#setAlarm()
    }
    return stored
  }

  /**
   * Moves messages that are due into their queues, in the order of their times. If more are due than fit into one commit, the next commits take
   * some of each tenant. Returns after about a second, because a start and a stop wait for it; the next call takes the rest.
   */
  async enterDue(): Promise<void> {
    const { clock, database, clockCheck } = this.context
    const { rows } = await database.gate.execute({ sql: DUE, args: [clockCheck.dueUntil] })
    await this.#commit(rows)
    const end = clock.monotonic() + MAX_ENTERING_MS
    let isMore = rows.length === ROWS_AT_ONCE
    while (isMore && clock.monotonic() < end) isMore = await this.#enterRound()
  }

  /** Moves some messages of each tenant, in several commits. Returns whether any was due. */
  async #enterRound(): Promise<boolean> {
    const { database, clockCheck } = this.context
    let isAny = false
    for (let after: Row[string] | undefined = ''; typeof after === 'string';) {
      const { rows }: Result = await database.gate.execute({ sql: DUE_IN_TURN, args: [clockCheck.dueUntil, after] })
      const due = rows.filter((row) => row['seq'] !== null)
      await this.#commit(due)
      isAny ||= due.length > 0
      after = rows.at(-1)?.['id']
      // Without a commit, the next query would run in the same tick of the event loop.
      if (due.length === 0) await new Promise((resolve) => void setImmediate(resolve))
    }
    return isAny
  }

  async #ring(): Promise<void> {
    if (this.#entering !== null || this.#isStopped) return
    this.#entering = this.#enterAndPlan()
    await this.#entering
    this.#entering = null
    this.#setAlarm()
  }

  async #enterAndPlan(): Promise<void> {
    const { clock, database, log, clockCheck } = this.context
    try {
      do {
        this.#nextAt = Infinity
        await this.enterDue()
        const { rows } = await database.gate.execute(NEXT)
        this.#nextAt = Math.min(this.#nextAt, Number(rows[0]?.['at'] ?? Infinity))
      } while (this.#nextAt <= clockCheck.dueUntil && !this.#isStopped)
    } catch (error) {
      log.error({ error: errorName(error) }, 'scheduled messages cannot enter their queues, trying again')
      this.#nextAt = clock.now() + RETRY_AFTER_FAULT_MS
    }
  }

  #setAlarm(): void {
    if (this.#isStopped || this.#entering !== null) return
    const { clock, clockCheck } = this.context
    const longestMs = this.#nextAt === Infinity ? IDLE_LOOK_EVERY_MS : LOOK_EVERY_MS
    const delayMs = clockCheck.isTrusted ? Math.min(this.#nextAt - clock.now(), longestMs) : longestMs
    this.#cancelAlarm()
    this.#cancelAlarm = clock.after(Math.ceil(delayMs), () => void this.#ring())
  }

  /** Commits the send jobs of scheduled messages. Until their `seq` is known, no later message of their queues may begin. */
  async #commit(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return
    const { context, scheduler } = this
    const known = rows.filter((row) => row['from_number'] !== null)
    const queues = known.map((row) =>
      scheduler.queues.getOrCreate(String(row['tenant_id']), String(row['from_number'])),
    )
    for (const queue of queues) queue.arriving++
    try {
      const seqs = JSON.stringify(rows.map((row) => row['seq']))
      const toSteady = Math.round(context.clockCheck.toSteadyMs)
      const [entered] = await context.database.writer.write([
        { sql: INSERT_SEND_JOBS, args: [seqs, toSteady] },
        { sql: DELETE_SCHEDULE_JOBS, args: [seqs] },
      ])
      this.#enter(rows, entered)
    } catch (error) {
      // A disk may fail after a commit, so the send jobs may be stored.
      for (const queue of queues) queue.hasMore = true
      throw error
    } finally {
      for (const queue of queues) {
        queue.arriving--
        scheduler.touch(queue)
      }
    }
  }

  #enter(rows: readonly Row[], entered: Result | undefined): void {
    const { scheduler, numberLookups } = this
    const scheduled = new Map(rows.map((row) => [row['subject'], row]))
    for (const { seq, subject } of entered?.rows ?? []) {
      const row = scheduled.get(subject)
      if (row === undefined) continue
      const queue = scheduler.queues.getOrCreate(String(row['tenant_id']), String(row['from_number']))
      numberLookups.noteAccepted(Number(seq))
      scheduler.enter(
        newEntry(queue, String(subject), String(row['to_number']), Number(seq), row['is_quarantined'] === 1),
      )
    }
  }
}

const NEXT = `SELECT min(due_at) AS at FROM jobs INDEXED BY jobs_scheduled WHERE kind = 'schedule'`

const COLUMNS = `jobs.seq, jobs.subject, ${IS_QUARANTINED} AS is_quarantined, jobs.tenant_id, messages.from_number, messages.to_number`
/** A damaged database may have lost the message. Its job is deleted anyway; otherwise it would stay due. */
const MESSAGE = 'messages ON messages.id = jobs.subject AND messages.tenant_id = jobs.tenant_id'

const DUE = `SELECT ${COLUMNS} FROM jobs INDEXED BY jobs_scheduled LEFT JOIN ${MESSAGE}
  WHERE jobs.kind = 'schedule' AND jobs.due_at <= ?1 ORDER BY jobs.due_at, jobs.seq LIMIT ${ROWS_AT_ONCE}`

/**
 * Reads the next due messages of the tenants after `?2`, by their times. Jumps from tenant to tenant along the index. A tenant without due
 * messages has one row, without a job. A row whose `id` is null marks the end of the tenants.
 */
const DUE_IN_TURN = `WITH RECURSIVE tenants (id) AS (
    SELECT min(tenant_id) FROM jobs INDEXED BY jobs_scheduled_in_turn WHERE kind = 'schedule' AND tenant_id > ?2
    UNION ALL
    SELECT (SELECT min(tenant_id) FROM jobs INDEXED BY jobs_scheduled_in_turn WHERE kind = 'schedule' AND tenant_id > tenants.id)
    FROM tenants WHERE id IS NOT NULL)
  SELECT tenants.id, ${COLUMNS} FROM tenants
  LEFT JOIN jobs INDEXED BY jobs_scheduled_in_turn
    ON jobs.kind = 'schedule' AND jobs.tenant_id = tenants.id AND jobs.due_at <= ?1
  LEFT JOIN ${MESSAGE}
  LIMIT ${ROWS_IN_TURN}`

/** Leaves out messages that were cancelled after they were read. The queue age of a message counts from its `sendAt`. */
const INSERT_SEND_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at)
  SELECT due.id, 'send', messages.from_number, due.tenant_id, messages.id, messages.to_number, due.due_at + CAST(?2 AS INTEGER)
  FROM json_each(?1) AS entering CROSS JOIN jobs AS due ON due.seq = entering.value AND due.kind = 'schedule'
  CROSS JOIN messages ON messages.id = due.subject AND messages.tenant_id = due.tenant_id AND messages.status = 'queued'
  ORDER BY entering.key RETURNING seq, subject`

/** The unary plus keeps SQLite from reading all scheduled jobs. */
const DELETE_SCHEDULE_JOBS = `DELETE FROM jobs WHERE seq IN (SELECT value FROM json_each(?1)) AND +kind = 'schedule'`
