import { openDatabase } from '../../src/db/database.ts'
import type { Gate } from '../../src/db/gate.ts'
import { createWriter } from '../../src/db/writer.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../src/jobs/job.ts'
import { JobLoop } from '../../src/jobs/loop.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { recordedLog, until } from '../support/world.ts'

export interface NewJob {
  lane: string
  subject: string
  tenantId?: string
  /** Not due before then; at once if absent. */
  inMs?: number
}

type Handler = (job: Job) => Promise<JobOutcome> | JobOutcome

export interface WorkshopOptions {
  maxInFlight?: number
  maxPerLane?: number
  maxPrefetched?: number
  room?: JobKind<string>['room']
  /** What a run does; by default it deletes the job. */
  handle?: Handler
  load?: JobKind<string>['load']
}

/** A loop over an in-memory database, with a clock that stands still and a record of what ran. */
export class Workshop implements AsyncDisposable {
  readonly clock: ManualClock = manualClock()
  readonly ran: string[] = []
  readonly log = recordedLog()
  /** Statements that read or wrote something, for tests of idleness. */
  calls = 0
  /** Subjects that run at this moment; each may be there once. */
  readonly running = new Set<string>()
  /** Subjects that ran twice at once, or again after they were done. */
  readonly twice: string[] = []
  readonly #done = new Set<string>()

  /** The loop's queries go through this; a test may replace it. */
  execute: Gate['execute'] = (statement) => this.gate.execute(statement)

  private constructor(
    readonly gate: Gate,
    readonly close: () => Promise<void>,
    readonly options: WorkshopOptions,
  ) {}

  static async open(options: WorkshopOptions = {}): Promise<Workshop> {
    const { gate, close } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
    return new Workshop(gate, close, options)
  }

  /** A loop as a start makes it; a second one is a second life of the process. */
  newLoop(): JobLoop<string> {
    const execute: Gate['execute'] = (statement) => {
      this.calls++
      return this.execute(statement)
    }
    const gate: Gate = { ...this.gate, execute }
    return new JobLoop(this.kind(), {
      gate,
      writer: createWriter(gate),
      clock: this.clock,
      log: this.log.log,
      defer: setImmediate,
    })
  }

  kind(): JobKind<string> {
    const { maxInFlight = 8, maxPerLane = 8, maxPrefetched = 0, room, load } = this.options
    return {
      name: 'webhook',
      maxInFlight,
      maxPerLane,
      maxPrefetched,
      ...(room === undefined ? {} : { room }),
      load:
        load ??
        ((subjects) =>
          Promise.resolve(
            new Map(subjects.filter((subject) => !subject.startsWith('orphan')).map((subject) => [subject, subject])),
          )),
      run: (job) => this.#run(job),
    }
  }

  async #run(job: Job): Promise<JobOutcome> {
    if (this.running.has(job.subject) || this.#done.has(job.subject)) this.twice.push(job.subject)
    this.running.add(job.subject)
    this.ran.push(job.subject)
    try {
      return (await this.options.handle?.(job)) ?? (await this.finish(job))
    } finally {
      this.running.delete(job.subject)
    }
  }

  async finish(job: Job): Promise<JobOutcome> {
    await this.gate.execute({ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] })
    this.#done.add(job.subject)
    return DONE
  }

  /** Commits jobs without telling the loop. */
  async commit(...jobs: NewJob[]): Promise<Job[]> {
    const now = this.clock.steady()
    const rows = jobs.map(({ lane, subject, tenantId = 'tenant_a', inMs = 0 }) => ({
      lane,
      subject,
      tenantId,
      dueAt: now + inMs,
    }))
    const inserted = await this.gate.execute({
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
        SELECT 'job_' || key, 'webhook', value ->> 'lane', value ->> 'tenantId', value ->> 'subject', value ->> 'dueAt', ?2 FROM json_each(?1)
        RETURNING seq, id`,
      args: [JSON.stringify(rows), now],
    })
    return inserted.rows.map((row, index) => ({
      seq: Number(row['seq']),
      id: String(row['id']),
      kind: 'webhook',
      lane: rows[index]?.lane ?? '',
      tenantId: rows[index]?.tenantId ?? '',
      subject: rows[index]?.subject ?? '',
    }))
  }

  async left(): Promise<string[]> {
    const { rows } = await this.gate.execute('SELECT subject FROM jobs ORDER BY seq')
    return rows.map((row) => String(row['subject']))
  }

  /** Waits until so many runs were begun. */
  async untilRan(count: number): Promise<string[]> {
    await until(() => this.ran.length >= count)
    return this.ran
  }

  /** Lets the loop do all that it can do at this moment. */
  async settled(): Promise<void> {
    let before = -1
    while (before !== this.calls + this.ran.length) {
      before = this.calls + this.ran.length
      for (let turn = 0; turn < 10; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
