import type { Clock } from '../core/clock.ts'
import { type Log, errorName } from '../core/log.ts'
import type { Gate } from '../db/gate.ts'
import type { Writer } from '../db/writer.ts'
import type { Job, JobKind, JobOutcome } from './job.ts'
import { readDueJobs, readLanes, readNextDue } from './job-rows.ts'
import { type Lane, Lanes } from './lanes.ts'

export interface LoopContext {
  gate: Gate
  writer: Writer
  clock: Clock
  log: Log
  /** Lets the event loop breathe between picks. */
  defer: (run: () => void) => void
}

const RETRY_AFTER_FAULT_MS = 1000
const DISCOVER_EVERY_MS = 60_000

/** Runs the jobs of one kind: woken by a commit or by the clock, idle otherwise. */
export class JobLoop<Subject> {
  readonly #lanes = new Lanes()
  #inFlight = 0
  #stopped = true
  #picking = false
  #again = false
  #cancelTimer: (() => void) | null = null
  #discoverAt = 0
  readonly #idle: (() => void)[] = []

  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {}

  start(): void {
    this.#stopped = false
    this.#wake()
  }

  /** Picks no more; settles when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    if (this.#inFlight > 0 || this.#picking) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** A job was committed to this lane. */
  added(lane: string, tenantId: string): void {
    this.#lanes.get(lane, tenantId).pending = true
    this.#wake()
  }

  /** A job that existed before has come to this lane and is due after `delayMs`. */
  moved(lane: string, tenantId: string, delayMs: number): void {
    this.#snoozeLane(this.#lanes.get(lane, tenantId), delayMs)
    this.#wake()
  }

  /** Something that held lanes back has changed: look at all of them again. */
  release(): void {
    for (const lane of this.#lanes.all()) lane.heldUntil = 0
    this.#wake()
  }

  #wake(): void {
    if (this.#stopped) return
    if (this.#picking) {
      this.#again = true
      return
    }
    this.#picking = true
    this.context.defer(() => void this.#pick())
  }

  async #pick(): Promise<void> {
    try {
      do {
        this.#again = false
        await this.#discover()
        while (!this.#stopped && (await this.#pickOnce())) await new Promise<void>((resolve) => this.context.defer(resolve))
      } while (this.#again && !this.#stopped)
    } catch (error) {
      this.context.log.error({ kind: this.kind.name, error: errorName(error) }, 'jobs cannot be read, trying again')
      this.#schedule(RETRY_AFTER_FAULT_MS)
      this.#picking = false
      this.#checkIdle()
      return
    }
    this.#picking = false
    this.#checkIdle()
    this.#scheduleNextDue()
  }

  /** Lanes are noted when their jobs are added; this finds those of before the start, and any that was missed. */
  async #discover(): Promise<void> {
    const now = this.context.clock.monotonic()
    if (now < this.#discoverAt) return
    this.#discoverAt = now + DISCOVER_EVERY_MS
    for (const { lane, tenantId } of await readLanes(this.context.gate, this.kind.name)) {
      const known = this.#lanes.get(lane, tenantId)
      known.pending = true
      known.cursor = 0
    }
  }

  async #pickOnce(): Promise<boolean> {
    const now = this.context.clock.monotonic()
    const free = this.kind.maxInFlight - this.#inFlight
    if (free <= 0) return false
    const lanes = this.#lanes.take(now, free)
    if (lanes.length === 0) return false
    const limits = this.#limits(lanes, now, free)
    if (limits.length === 0) return true
    const requests = limits.map(({ lane, limit }) => ({ lane: lane.name, after: lane.cursor, limit: limit + lane.inFlight.size }))
    const jobs = await readDueJobs(this.context.gate, this.kind.name, requests, this.context.clock.steady())
    for (const { lane, limit } of limits) await this.#note(lane, limit, jobs.filter((job) => job.lane === lane.name))
    await this.#startAll(limits, jobs)
    return true
  }

  #limits(lanes: readonly Lane[], now: number, free: number): { lane: Lane; limit: number }[] {
    const share = Math.max(1, Math.floor(free / lanes.length))
    return lanes.flatMap((lane) => {
      const room = this.kind.room?.(lane.name, lane.tenantId) ?? { jobs: Infinity, waitMs: 0 }
      const limit = Math.min(share, room.jobs, this.kind.maxPerLane - lane.inFlight.size)
      if (limit > 0) return [{ lane, limit }]
      lane.heldUntil = room.jobs > 0 ? Infinity : now + Math.max(room.waitMs, 1)
      return []
    })
  }

  /** Moves the cursor, and when the lane is read to its end, finds out when it has work again. */
  async #note(lane: Lane, limit: number, jobs: readonly Job[]): Promise<void> {
    const fresh = jobs.filter((job) => !lane.inFlight.has(job.seq)).slice(0, limit)
    const wasStart = lane.cursor === 0
    lane.cursor = Math.max(lane.cursor, fresh.at(-1)?.seq ?? 0)
    if (fresh.length >= limit) return
    lane.pending = false
    if (!wasStart) return
    const now = this.context.clock.steady()
    const next = await readNextDue(this.context.gate, this.kind.name, lane.name, now)
    if (next !== null) this.#snoozeLane(lane, next - now)
    else if (fresh.length === 0) this.#lanes.dropIfIdle(lane)
  }

  async #startAll(limits: readonly { lane: Lane; limit: number }[], jobs: readonly Job[]): Promise<void> {
    const picked = limits.flatMap(({ lane, limit }) =>
      jobs.filter((job) => job.lane === lane.name && !lane.inFlight.has(job.seq)).slice(0, limit).map((job) => ({ lane, job })),
    )
    if (picked.length === 0) return
    const subjects = await this.kind.load(picked.map(({ job }) => job.subject))
    for (const { lane, job } of picked) {
      if (this.#stopped) break
      lane.inFlight.add(job.seq)
      this.#inFlight++
      void this.#run(lane, job, subjects.get(job.subject))
    }
  }

  async #run(lane: Lane, job: Job, subject: Subject | undefined): Promise<void> {
    let outcome: JobOutcome
    try {
      outcome = subject === undefined ? await this.#dropOrphan(job) : await this.kind.run(job, subject)
    } catch (error) {
      this.context.log.error({ kind: job.kind, jobId: job.id, error: errorName(error) }, 'job failed, trying again')
      outcome = { type: 'hold', delayMs: RETRY_AFTER_FAULT_MS }
    }
    try {
      await this.#settle(lane, job, outcome)
    } finally {
      lane.inFlight.delete(job.seq)
      this.#inFlight--
      if (lane.heldUntil === Infinity) lane.heldUntil = 0
      this.#lanes.dropIfIdle(lane)
      this.#checkIdle()
      this.#wake()
    }
  }

  async #settle(lane: Lane, job: Job, outcome: JobOutcome): Promise<void> {
    if (outcome.type === 'done') return
    const { clock, writer } = this.context
    if (outcome.type === 'hold') {
      lane.heldUntil = Math.max(lane.heldUntil === Infinity ? 0 : lane.heldUntil, clock.monotonic() + outcome.delayMs)
      lane.pending = true
      lane.cursor = 0
      return
    }
    const runAt = clock.steady() + outcome.delayMs
    await writer
      .write([{ sql: 'UPDATE jobs SET run_at = ?1 WHERE seq = ?2', args: [Math.ceil(runAt), job.seq] }])
      .catch((error: unknown) => this.context.log.warn({ jobId: job.id, error: errorName(error) }, 'job could not be put off'))
    this.#snoozeLane(lane, outcome.delayMs)
  }

  async #dropOrphan(job: Job): Promise<JobOutcome> {
    await this.context.writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] }])
    return { type: 'done' }
  }

  #snoozeLane(lane: Lane, delayMs: number): void {
    const at = this.context.clock.monotonic() + delayMs
    lane.snoozedUntil = lane.snoozedUntil === null ? at : Math.min(lane.snoozedUntil, at)
  }

  #scheduleNextDue(): void {
    const due = this.#lanes.nextDue()
    const now = this.context.clock.monotonic()
    const at = Math.min(due ?? Infinity, this.#discoverAt)
    this.#schedule(Math.max(1, Math.min(at - now, DISCOVER_EVERY_MS)))
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer?.()
    if (this.#stopped) return
    this.#cancelTimer = this.context.clock.after(Math.ceil(delayMs), () => this.#wake())
  }

  #checkIdle(): void {
    if (this.#inFlight > 0 || this.#picking) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
