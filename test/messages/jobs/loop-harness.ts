import { openDatabase } from '../../../src/db/database.ts'
import type { Gate } from '../../../src/db/gate.ts'
import { createWriter } from '../../../src/db/writer.ts'
import { commitTo } from '../../../src/db/replicated-gate.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../../src/messages/jobs/job.ts'
import { JobLoop } from '../../../src/messages/jobs/loop.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { recordedLog, until } from '../../support/world.ts'

export interface NewJob {
  lane: string
  subject: string
  tenantId?: string
  /** The delay until the job is due. Default 0. */
  inMs?: number
}

type Handler = (job: Job) => Promise<JobOutcome> | JobOutcome

export interface LoopHarnessOptions {
  maxInFlight?: number
  maxPerLane?: number
  keyOf?: JobKind<string>['keyOf']
  /** Runs a job. By default it deletes the job. */
  handle?: Handler
  load?: JobKind<string>['load']
}

/** Runs loops over an in-memory database with a manual clock, and records the runs. */
export class LoopHarness implements AsyncDisposable {
  readonly clock: ManualClock = manualClock()
  readonly ran: string[] = []
  readonly log = recordedLog()
  /** The number of statements of the loop. */
  calls = 0
  /** The subjects that are running. Each may run once at a time. */
  readonly running = new Set<string>()
  /** Subjects that ran twice in parallel, or again after they were done. */
  readonly twice: string[] = []
  readonly #done = new Set<string>()

  /** Runs the loop's queries. A test may replace it. */
  execute: Gate['execute'] = (statement) => this.gate.execute(statement)

  private constructor(
    readonly gate: Gate,
    readonly close: () => Promise<void>,
    readonly options: LoopHarnessOptions,
  ) {}

  static async open(options: LoopHarnessOptions = {}): Promise<LoopHarness> {
    const { gate, close } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
    return new LoopHarness(gate, close, options)
  }

  /** Creates a loop, as a start does. A second loop represents a restart. */
  newLoop(): JobLoop<string> {
    const execute: Gate['execute'] = (statement) => {
      this.calls++
      return this.execute(statement)
    }
    const gate: Gate = { ...this.gate, execute }
    return new JobLoop(this.kind(), {
      gate,
      writer: createWriter(commitTo(gate)),
      clock: this.clock,
      log: this.log.log,
      defer: setImmediate,
    })
  }

  kind(): JobKind<string> {
    const { maxInFlight = 8, maxPerLane = 8, keyOf, load } = this.options
    return {
      name: 'webhook',
      bounds: { total: maxInFlight, perTenant: maxInFlight },
      maxPerLane,
      ...(keyOf === undefined ? {} : { keyOf }),
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

  /** Waits until `count` runs have begun. */
  async untilRan(count: number): Promise<string[]> {
    await until(() => this.ran.length >= count)
    return this.ran
  }

  /** Waits until the loop has done everything that it can do without advancing the clock. */
  async untilIdle(): Promise<void> {
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
