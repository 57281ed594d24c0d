import { errorName } from '../core/log.ts'
import type { Job, JobKind, JobOutcome } from './job.ts'
import { readLanes, readNextDue } from './job-rows.ts'
import { Alarm } from './alarm.ts'
import type { LoopContext } from './loop-context.ts'
import { type Lane, Lanes, pass, putOffLane, rewind, snooze } from './lanes.ts'
import { type Pick, addressOf, canTakeNew, planPicks, readPicks } from './pick.ts'
import type { Reservation } from './reservation.ts'
import { RETRY_AFTER_FAULT_MS, orphanRun, outcomeOf, putOff } from './run-job.ts'

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
  #discoverAt = 0
  #releases = 0
  readonly #idle: (() => void)[] = []

  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {
    this.#alarm = new Alarm(context.clock, () => this.#wake())
  }

  start(): void {
    this.#stopped = false
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

  /** A job was committed, and what it works on is known: it starts at once where nothing else waits for its place. */
  ready(job: Job, subject: Subject): void {
    const lane = this.#lanes.ofNewJob(job.lane, job.tenantId)
    if (this.#isOpen(lane)) return this.#startOne(lane, job, subject)
    // One that was committed later may have started before.
    if (job.seq <= lane.cursor) rewind(lane)
    this.added(job.lane, job.tenantId)
  }

  /** A place for a job that is about to be committed; null where it would have to wait. */
  reserve(name: string, tenantId: string): Reservation | null {
    const lane = this.#lanes.ofNewJob(name, tenantId)
    if (!this.#isOpen(lane)) return (this.#lanes.dropIfIdle(lane), null)
    lane.reserved++
    this.#inFlight++
    return {
      begin: (job, run) => {
        this.#unreserve(lane)
        // One that waits may have been committed before it: the reading must not pass that over.
        if (!lane.pending) pass(lane, job.seq)
        this.#begin(lane, job, run)
        // It was passed over while the place was kept.
        if (lane.pending) this.#wake()
      },
      cancel: () => (this.#unreserve(lane), this.#left(lane)),
    }
  }

  #unreserve(lane: Lane): void {
    lane.reserved--
    this.#inFlight--
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
    for (const lane of this.#lanes.all()) lane.heldUntil = 0
    this.#wake()
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
    const free = this.kind.maxInFlight - this.#inFlight
    if (free <= 0) return false
    const lanes = this.#lanes.take(now, free)
    if (lanes.length === 0) return (this.#waiting = false)
    const picks = planPicks(this.kind, lanes, now, free)
    if (picks.length > 0) await this.#serve(picks)
    return true
  }

  /** Reads and starts the jobs of these lanes. While it waits, others may add jobs, end, or send a lane back to its start. */
  async #serve(picks: readonly Pick[]): Promise<void> {
    const now = this.context.clock.steady()
    for (const { lane } of picks) {
      lane.reading = true
      lane.readSince ??= now
      // Before the reading: a job that is added meanwhile sets it again.
      lane.pending = false
    }
    try {
      await readPicks(this.context.gate, this.kind.name, picks, now)
      await this.#start(picks)
      for (const pick of picks) await this.#lookAhead(pick)
    } catch (error) {
      for (const { lane } of picks) rewind(lane)
      throw error
    } finally {
      for (const { lane } of picks) {
        lane.reading = false
        this.#lanes.dropIfIdle(lane)
      }
    }
  }

  async #start(picks: readonly Pick[]): Promise<void> {
    const subjects = picks.flatMap(({ jobs }) => jobs.map((job) => job.subject))
    if (subjects.length === 0) return
    const loaded = await this.kind.load(subjects)
    for (const { lane, limit, rewinds, jobs } of picks) {
      if (this.#stopped || lane.rewinds !== rewinds) continue
      if (jobs.length >= limit) lane.pending = true
      for (const job of jobs) this.#startOne(lane, job, loaded.get(job.subject))
    }
  }

  #startOne(lane: Lane, job: Job, subject: Subject | undefined): void {
    pass(lane, job.seq)
    this.#begin(lane, job, subject === undefined ? orphanRun(this.context, job) : () => this.kind.run(job, subject))
  }

  #begin(lane: Lane, job: Job, run: () => Promise<JobOutcome>): void {
    lane.inFlight.add(job.seq)
    this.#inFlight++
    void this.#run(lane, job, run)
  }

  /** Once a lane is read to its end: when does it have work again? */
  async #lookAhead({ lane, limit, rewinds, jobs }: Pick): Promise<void> {
    if (!lane.unseen || lane.readSince === null || jobs.length >= limit || lane.rewinds !== rewinds) return
    const next = await readNextDue(this.context.gate, this.kind.name, addressOf(lane), lane.readSince)
    const { clock } = this.context
    if (next !== null) snooze(lane, clock.monotonic() + next - clock.steady())
    if (lane.rewinds === rewinds) lane.unseen = false
  }

  async #run(lane: Lane, job: Job, run: () => Promise<JobOutcome>): Promise<void> {
    const releases = this.#releases
    const outcome = await outcomeOf(this.context, job, run)
    try {
      if (outcome.type === 'snooze') await putOff(this.context, job, outcome.delayMs)
      // What it would wait for was over before it said so.
      const over = outcome.type === 'hold' && releases !== this.#releases
      putOffLane(lane, over ? { type: 'hold', delayMs: 0 } : outcome, this.context.clock.monotonic())
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
    if (lane.pending || this.#waiting) this.#wake()
  }

  /** With every place taken the next end of a job wakes the loop; a lane that is due would wake it for nothing. */
  #nextMs(): number {
    const due = this.#inFlight >= this.kind.maxInFlight ? null : this.#lanes.nextDue()
    const delayMs = Math.min(due ?? Infinity, this.#discoverAt) - this.context.clock.monotonic()
    return Math.max(1, Math.min(delayMs, DISCOVER_EVERY_MS))
  }

  #checkIdle(): void {
    if (this.#inFlight > 0 || this.#picking) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
