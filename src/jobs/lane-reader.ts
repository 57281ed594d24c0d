import type { Job, JobKind, JobOutcome } from './job.ts'
import { readNextDue } from './job-rows.ts'
import { prefetch, rewind, snooze } from './lanes.ts'
import type { LoopContext } from './loop-context.ts'
import { type Reading, addressOf, read } from './pick.ts'
import { deletingRun } from './run-job.ts'

/** Reads due jobs of one kind into their lanes. */
export class LaneReader<Subject> {
  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {}

  /** Reads the next jobs of these lanes. During the read, jobs may be added or end, and lanes may be rewound. */
  async read(readings: readonly Reading[]): Promise<void> {
    const steadyNow = this.context.clock.steady()
    for (const { lane } of readings) {
      lane.reading = true
      lane.scan.since ??= steadyNow
      // Reset before the query, because a job that is added during it sets this again.
      lane.scan.pending = false
    }
    try {
      await read(this.context.gate, this.kind, readings, steadyNow)
      await this.#prefetch(readings)
      for (const reading of readings) await this.#noteNextDue(reading)
    } catch (error) {
      for (const { lane } of readings) rewind(lane)
      throw error
    } finally {
      for (const { lane } of readings) lane.reading = false
    }
  }

  runOf(job: Job, subject: Subject | undefined): () => Promise<JobOutcome> {
    return subject === undefined ? deletingRun(this.context, job) : () => this.kind.run(job, subject)
  }

  async #prefetch(readings: readonly Reading[]): Promise<void> {
    const subjects = readings.flatMap(({ jobs }) => jobs.map((job) => job.subject))
    if (subjects.length === 0) return
    const loaded = await this.kind.load(subjects)
    for (const { lane, limit, scan, jobs } of readings) {
      if (lane.scan !== scan) continue
      if (jobs.length >= limit) scan.pending = true
      for (const job of jobs) {
        const prefetched = { job, run: this.runOf(job, loaded.get(job.subject)) }
        // By due time there is no cursor: what has begun is no longer due, or in flight.
        if (this.kind.order === 'due') scan.prefetched.push(prefetched)
        else prefetch(lane, prefetched)
      }
    }
  }

  /** Sets when a lane that was read to its end will have a due job again. */
  async #noteNextDue({ lane, limit, scan, jobs }: Reading): Promise<void> {
    if (!scan.unseen || scan.since === null || jobs.length >= limit || lane.scan !== scan) return
    const next = await readNextDue(this.context.gate, this.kind.name, addressOf(lane), scan.since)
    const { clock } = this.context
    if (next !== null) snooze(lane, clock.monotonic() + next - clock.steady())
    scan.unseen = false
  }
}
