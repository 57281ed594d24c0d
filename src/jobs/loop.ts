import { errorName } from '../core/log.ts'
import type { Job, JobKind, JobOutcome } from './job.ts'
import { readLanes } from './job-rows.ts'
import { Alarm } from './alarm.ts'
import type { LoopContext } from './loop-context.ts'
import { LaneReader } from './lane-reader.ts'
import { type Lane, Lanes, type ReadyJob, hasWork, layReady, letGo, pass, rewind, snooze } from './lanes.ts'
import { putOffLane, standingOf } from './put-off.ts'
import { canTakeNew, planPicks, planReadings } from './pick.ts'
import { RETRY_AFTER_FAULT_MS, faultOf, putOff } from './run-job.ts'

const DISCOVER_EVERY_MS = 60_000

/** Runs the jobs of one kind: woken by a commit or by the clock, idle otherwise. */
export class JobLoop<Subject> {
  readonly #lanes = new Lanes()
  #inFlight = 0
  #stopped = true
  #picking = false
  #again = false
  /** A lane may have work that nobody has picked: while it is false, a new job starts without being read. */
  #waiting = true
  readonly #alarm: Alarm
  readonly #reader: LaneReader<Subject>
  #discoverAt = 0
  #releases = 0
  readonly #idle: (() => void)[] = []

  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {
    this.#alarm = new Alarm(context.clock, () => this.#wake())
    this.#reader = new LaneReader(kind, context)
  }

  /** What lay ready at a stop may be out of date. */
  start(): void {
    this.#stopped = false
    for (const lane of this.#lanes.all()) rewind(lane)
    this.#wake()
  }

  /** Picks no more; settles when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#alarm.stop()
    if (this.#inFlight > 0 || this.#picking) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** A job was committed to this lane. */
  added(lane: string, tenantId: string): void {
    this.#lanes.get(lane, tenantId).pending = true
    this.#wake()
  }

  /** A job was committed, and what it works on is known: it begins at once, or when those before it have. */
  ready(job: Job, subject: Subject): void {
    const lane = this.#lanes.ofNewJob(job.lane, job.tenantId)
    const ready = { job, run: this.#reader.runOf(job, subject) }
    // One that was committed later may have begun before.
    if (job.seq <= lane.cursor) rewind(lane)
    if (this.#isOpen(lane)) return (pass(lane, job.seq), this.#begin(lane, ready))
    const mayLie = !this.#stopped && !lane.pending && !lane.reading && lane.ready.length < this.#mayLieReady()
    if (mayLie) layReady(lane, ready)
    else lane.pending = true
    this.#wake()
  }

  #isOpen(lane: Lane): boolean {
    if (this.#stopped || this.#waiting || this.#inFlight >= this.kind.maxInFlight) return false
    return canTakeNew(this.kind, lane, this.context.clock.monotonic())
  }

  /** A job that existed before has come to this lane and is due after `delayMs`. */
  moved(lane: string, tenantId: string, delayMs: number): void {
    snooze(this.#lanes.get(lane, tenantId), this.context.clock.monotonic() + delayMs)
    this.#wake()
  }

  /** Something that held lanes back has changed: look at all of them again. */
  release(): void {
    this.#releases++
    const now = this.context.clock.monotonic()
    for (const lane of this.#lanes.all()) letGo(lane, now)
    this.#wake()
  }

  /** What this lane waited for has come. */
  laneFreed(name: string, tenantId: string): void {
    const lane = this.#lanes.known(name, tenantId)
    if (lane === null) return
    lane.freed++
    letGo(lane, this.context.clock.monotonic())
    if (hasWork(lane)) this.#wake()
  }

  /** More may run at once than a moment ago. */
  freed(): void {
    if (!this.#waiting) return
    for (const lane of this.#lanes.all()) if (lane.heldUntil === Infinity) lane.heldUntil = 0
    this.#wake()
  }

  #wake(): void {
    this.#waiting = true
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

  /** Lanes are noted when their jobs are added; this finds those of before the start, and any that was missed. */
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
    if (lanes.length === 0) return (this.#waiting = false)
    const picks = planPicks(this.kind, lanes, now, free)
    const readings = planReadings(picks, this.#mayLieReady())
    if (readings.length > 0) await this.#reader.read(readings)
    for (const { lane, limit } of this.#stopped ? [] : picks) {
      for (const ready of lane.ready.splice(0, limit)) this.#begin(lane, ready)
    }
    for (const { lane } of readings) this.#lanes.dropIfIdle(lane)
    return true
  }

  #free(): number {
    return this.kind.maxInFlight - this.#inFlight
  }

  #mayLieReady(): number {
    return Math.floor((this.kind.maxReady ?? 0) / this.#lanes.size)
  }

  #begin(lane: Lane, ready: ReadyJob): void {
    lane.inFlight.add(ready.job.seq)
    this.#inFlight++
    void this.#run(lane, ready)
  }

  async #run(lane: Lane, ready: ReadyJob): Promise<void> {
    const before = standingOf(lane, this.#releases)
    const { job } = ready
    let outcome: JobOutcome
    try {
      outcome = await ready.run()
    } catch (error) {
      outcome = faultOf(this.context, job, error)
    }
    try {
      if (outcome.type === 'snooze') await putOff(this.context, job, outcome.delayMs)
      if (outcome.type !== 'done') {
        const after = standingOf(lane, this.#releases)
        putOffLane(lane, ready, outcome, { before, after, now: this.context.clock.monotonic() })
      }
    } finally {
      lane.inFlight.delete(job.seq)
      this.#inFlight--
      if (outcome.type !== 'done') this.#waiting = true
      this.#left(lane)
    }
  }

  /** A place has become free. */
  #left(lane: Lane): void {
    if (lane.heldUntil === Infinity) lane.heldUntil = 0
    this.#lanes.dropIfIdle(lane)
    this.#checkIdle()
    if (hasWork(lane) || this.#waiting) this.#wake()
  }

  /** With every place taken the next end of a job wakes the loop; a lane that is due would wake it for nothing. */
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
