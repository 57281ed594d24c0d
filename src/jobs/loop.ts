import { RETRY_AFTER_FAULT_MS } from '../core/limits.ts'
import { errorName } from '../core/log.ts'
import { Alarm } from './alarm.ts'
import { type RunEnd, applyOutcome, versionOf } from './apply-outcome.ts'
import type { Job, JobKind } from './job.ts'
import { readLanes } from './job-rows.ts'
import { LaneReader } from './lane-reader.ts'
import { type Lane, Lanes, type PrefetchedJob, endHold, hasWork, pass, prefetch, rewind, snooze } from './lanes.ts'
import type { LoopContext } from './loop-context.ts'
import { canTakeNew, planPicks, planReadings } from './pick.ts'
import { storeSnooze } from './run-job.ts'

const DISCOVER_EVERY_MS = 60_000

/** Runs the jobs of one kind: woken by a commit or by the clock, idle otherwise. */
export class JobLoop<Subject> {
  readonly #lanes = new Lanes()
  #inFlight = 0
  #stopped = true
  #picking = false
  #again = false
  /** A lane may have jobs that were not picked yet. While this is false, a new job starts without a query. */
  #mayHaveWork = true
  readonly #alarm: Alarm
  readonly #reader: LaneReader<Subject>
  #discoverAt = 0
  readonly #idle: (() => void)[] = []

  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {
    this.#alarm = new Alarm(context.clock, () => this.#wake())
    this.#reader = new LaneReader(kind, context)
  }

  /** Starts the loop. Reads every lane again, because prefetched jobs may be out of date. */
  start(): void {
    this.#stopped = false
    for (const lane of this.#lanes.all()) rewind(lane)
    this.#wake()
  }

  /** Begins no more jobs; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#alarm.stop()
    if (this.#inFlight > 0 || this.#picking) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Call after the commit of a due job whose subject is in memory: it begins at once, or after the jobs before it. */
  prefetched(job: Job, subject: Subject): void {
    const lane = this.#lanes.ofNewJob(job.lane, job.tenantId)
    const prefetched = { job, run: this.#reader.runOf(job, subject) }
    // A job with a higher seq may have been reported first.
    if (job.seq <= lane.scan.cursor) rewind(lane)
    if (this.#canBeginNow(lane)) {
      pass(lane, job.seq)
      return this.#begin(lane, prefetched)
    }
    const isNext = !this.#stopped && !lane.scan.pending && !lane.reading
    if (isNext && lane.scan.prefetched.length < this.#maxPrefetchedPerLane()) prefetch(lane, prefetched)
    else lane.scan.pending = true
    this.#wake()
  }

  #canBeginNow(lane: Lane): boolean {
    if (this.#stopped || this.#mayHaveWork || this.#inFlight >= this.kind.maxInFlight) return false
    return canTakeNew(this.kind, lane, this.context.clock.monotonic())
  }

  /** Call when a job of this lane is due after `delayMs`. */
  dueAfter(lane: string, tenantId: string, delayMs: number): void {
    snooze(this.#lanes.get(lane, tenantId), this.context.clock.monotonic() + delayMs)
    this.#wake()
  }

  /** Call when waiting jobs of this lane may go on. */
  laneFreed(name: string, tenantId: string): void {
    const lane = this.#lanes.known(name, tenantId)
    if (lane !== null) this.#endHold(lane)
  }

  /** Call when waiting jobs of this tenant may go on. */
  tenantFreed(tenantId: string): void {
    for (const lane of this.#lanes.ofTenant(tenantId)) this.#endHold(lane)
  }

  #endHold(lane: Lane): void {
    lane.freed++
    endHold(lane, this.context.clock.monotonic())
    if (hasWork(lane)) this.#wake()
  }

  /** Call when more jobs may run at once than before. */
  freed(): void {
    if (!this.#mayHaveWork) return
    for (const lane of this.#lanes.all()) lane.waitsForRoom = false
    this.#wake()
  }

  #wake(): void {
    this.#mayHaveWork = true
    if (this.#stopped) return
    if (this.#picking) {
      this.#again = true
      return
    }
    this.#picking = true
    this.context.defer(() => void this.#pick())
  }

  async #pick(): Promise<void> {
    let retryMs: number | null = null
    try {
      do {
        this.#again = false
        await this.#discover()
        while (!this.#stopped && (await this.#pickOnce()))
          await new Promise<void>((resolve) => this.context.defer(resolve))
      } while (this.#again && !this.#stopped)
    } catch (error) {
      this.context.log.error({ kind: this.kind.name, error: errorName(error) }, 'jobs cannot be read, trying again')
      retryMs = RETRY_AFTER_FAULT_MS
    }
    this.#picking = false
    this.#checkIdle()
    if (!this.#stopped) this.#alarm.set(retryMs ?? this.#nextMs())
  }

  /** Finds the lanes of jobs from before the start, and once a minute any lane that was missed. */
  async #discover(): Promise<void> {
    const now = this.context.clock.monotonic()
    if (now < this.#discoverAt) return
    for (const { lane, tenantId } of await readLanes(this.context.gate, this.kind.name))
      rewind(this.#lanes.get(lane, tenantId))
    this.#discoverAt = now + DISCOVER_EVERY_MS
  }

  async #pickOnce(): Promise<boolean> {
    const now = this.context.clock.monotonic()
    const free = this.#free()
    if (free <= 0) return false
    const lanes = this.#lanes.take(now, free)
    this.#mayHaveWork = lanes.length > 0
    if (lanes.length === 0) return false
    const picks = planPicks(this.kind, lanes, free)
    const readings = planReadings(picks, this.#maxPrefetchedPerLane())
    if (readings.length > 0) await this.#reader.read(readings)
    for (const { lane, limit } of this.#stopped ? [] : picks) {
      for (const prefetched of lane.scan.prefetched.splice(0, limit)) this.#begin(lane, prefetched)
    }
    for (const { lane } of readings) this.#lanes.dropIfIdle(lane)
    return true
  }

  #free(): number {
    return this.kind.maxInFlight - this.#inFlight
  }

  #maxPrefetchedPerLane(): number {
    return Math.floor((this.kind.maxPrefetched ?? 0) / this.#lanes.size)
  }

  #begin(lane: Lane, prefetched: PrefetchedJob): void {
    lane.inFlight.add(prefetched.job.seq)
    this.#inFlight++
    void this.#run(lane, prefetched)
  }

  async #run(lane: Lane, prefetched: PrefetchedJob): Promise<void> {
    const before = versionOf(lane)
    const end = await this.#end(prefetched)
    if (end.type === 'snooze') await storeSnooze(this.context, prefetched.job, end.delayMs)
    if (end.type !== 'done') applyOutcome(lane, prefetched, end, before, this.context.clock.monotonic())
    lane.inFlight.delete(prefetched.job.seq)
    this.#inFlight--
    if (end.type !== 'done') this.#mayHaveWork = true
    this.#ended(lane)
  }

  async #end({ job, run }: PrefetchedJob): Promise<RunEnd> {
    try {
      return await run()
    } catch (error) {
      this.context.log.error({ kind: job.kind, jobId: job.id, error: errorName(error) }, 'job failed, trying again')
      return { type: 'fault' }
    }
  }

  /** Lets another job begin after one of the lane has ended. */
  #ended(lane: Lane): void {
    lane.waitsForRoom = false
    this.#lanes.dropIfIdle(lane)
    this.#checkIdle()
    if (hasWork(lane) || this.#mayHaveWork) this.#wake()
  }

  /** While all slots are in use, another job can begin only when one ends, so a lane that comes due need not wake the loop. */
  #nextMs(): number {
    const due = this.#free() <= 0 ? null : this.#lanes.nextDue()
    const delayMs = Math.min(due ?? Infinity, this.#discoverAt) - this.context.clock.monotonic()
    return Math.max(1, Math.min(delayMs, DISCOVER_EVERY_MS))
  }

  #checkIdle(): void {
    if (this.#inFlight > 0 || this.#picking) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
