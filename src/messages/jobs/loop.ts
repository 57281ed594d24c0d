import { Limiter, type Slot } from '../../core/limiter.ts'
import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName, unexpected } from '../../core/log.ts'
import type { Job, JobKind, JobOutcome, LoopContext } from './job.ts'
import { Lane, nameOf } from './lane.ts'
import { type Reading, beginReading, fill } from './reading.ts'
import { deleteJob, readLanes, storeSnooze } from './job-rows.ts'

const DISCOVER_EVERY_MS = 60_000

/**
 * Runs the jobs of one kind.
 * 1. Wake: a commit, the clock or a search once a minute says that a lane has due jobs.
 * 2. Request: the lane requests slots from the limiter.
 * 3. Read: all lanes that have slots read their next jobs, in one query.
 * 4. Run: each of these jobs takes a slot. Its outcome may wake its lane again, or hold it.
 */
export class JobLoop<Subject> {
  readonly #limiter: Limiter
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that have slots for jobs that are still to be read. */
  readonly #toRead = new Set<Lane>()
  /** Runs and queries that have not ended. */
  readonly #tasks = new Set<Promise<void>>()
  #isReadPlanned = false
  #isStopped = true
  #cancelDiscovery: () => void = () => undefined

  constructor(
    readonly kind: JobKind<Subject>,
    readonly context: LoopContext,
  ) {
    this.#limiter = new Limiter(kind.bounds)
  }

  start(): void {
    this.#isStopped = false
    this.#track(this.#discover())
  }

  /** Starts no more jobs; resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelDiscovery()
    for (const lane of this.#lanes.values()) {
      lane.cancelAlarm()
      lane.giveBack()
    }
    while (this.#tasks.size > 0) await Promise.all(this.#tasks)
    this.#lanes.clear()
    this.#toRead.clear()
  }

  /** Call after the commit that inserted or changed a job of this lane so that it is due after `delayMs`. */
  wake(name: string, tenantId: string, delayMs: number): void {
    if (!this.#isStopped) this.#wakeAfter(this.#lane(name, tenantId), delayMs)
  }

  /** Call when waiting jobs of this tenant may continue. */
  tenantFreed(tenantId: string): void {
    for (const lane of this.#lanes.values()) {
      if (lane.tenantId !== tenantId) continue
      lane.freed++
      lane.heldUntil = 0
      if (lane.wanted > 0) this.#requestSlots(lane)
    }
  }

  #lane(name: string, tenantId: string): Lane {
    const key = nameOf(name, tenantId)
    let lane = this.#lanes.get(key)
    if (lane === undefined) this.#lanes.set(key, (lane = new Lane(name, tenantId, this.kind.maxPerLane)))
    return lane
  }

  /** Finds the lanes of jobs from before the start, and once a minute any lane that was missed. */
  async #discover(): Promise<void> {
    let nextMs = DISCOVER_EVERY_MS
    try {
      for (const { lane, tenantId } of await readLanes(this.context.gate, this.kind.name))
        this.#wakeNow(this.#lane(lane, tenantId), Infinity)
    } catch (error) {
      this.#logUnreadable(error)
      nextMs = RETRY_AFTER_FAULT_MS
    }
    if (!this.#isStopped) this.#cancelDiscovery = this.context.clock.after(nextMs, () => this.#track(this.#discover()))
  }

  /** Records that this many jobs of the lane may have become due. */
  #wakeNow(lane: Lane, jobs: number): void {
    lane.wanted += jobs
    this.#requestSlots(lane)
  }

  #wakeAfter(lane: Lane, delayMs: number): void {
    if (delayMs <= 0) this.#wakeNow(lane, 1)
    else this.#setAlarm(lane, delayMs)
  }

  #setAlarm(lane: Lane, delayMs: number): void {
    const { clock } = this.context
    const at = clock.monotonic() + delayMs
    if (at >= lane.alarmAt) return
    lane.cancelAlarm()
    lane.alarmAt = at
    lane.cancelAlarm = clock.after(Math.ceil(delayMs), () => {
      lane.alarmAt = Infinity
      this.#wakeNow(lane, Infinity)
    })
  }

  /** Starts no job of the lane for a time. */
  #hold(lane: Lane, delayMs: number): void {
    lane.heldUntil = Math.max(lane.heldUntil, this.context.clock.monotonic() + delayMs)
    lane.giveBack()
    this.#wakeNow(lane, Infinity)
  }

  /** Requests a slot for each job that the lane may have. When one is granted, the lane reads its next jobs. */
  #requestSlots(lane: Lane): void {
    if (this.#isStopped) return
    const heldMs = lane.heldUntil - this.context.clock.monotonic()
    if (heldMs > 0) return this.#setAlarm(lane, heldMs)
    while (lane.leaveQueue === null && lane.slots.length < lane.wanted) this.#requestSlot(lane)
  }

  /** The limiter grants a slot immediately, or later if none is free: until then, the lane waits in its queue. */
  #requestSlot(lane: Lane): void {
    let isGranted = false
    const leaveQueue = this.#limiter.request(lane.tenantId, lane.keys, (slot) => {
      isGranted = true
      lane.leaveQueue = null
      lane.slots.push(slot)
      this.#toRead.add(lane)
      this.#planRead()
    })
    if (!isGranted) lane.leaveQueue = leaveQueue
  }

  #planRead(): void {
    if (this.#isReadPlanned) return
    this.#isReadPlanned = true
    this.context.defer(() => this.#track(this.#read()))
  }

  /** Reads and runs the next jobs of all lanes that have slots. */
  async #read(): Promise<void> {
    // A lane that was granted one slot may find more free slots.
    for (const lane of this.#toRead) this.#requestSlots(lane)
    const readings = [...this.#toRead].filter(({ slots }) => slots.length > 0).map(beginReading)
    this.#toRead.clear()
    try {
      if (readings.length > 0) await this.#runNext(readings)
    } catch (error) {
      this.#logUnreadable(error)
      for (const { lane } of readings) this.#hold(lane, RETRY_AFTER_FAULT_MS)
    }
    for (const reading of readings) this.#endReading(reading)
    this.#isReadPlanned = false
    if (this.#toRead.size > 0) this.#planRead()
  }

  async #runNext(readings: readonly Reading[]): Promise<void> {
    const { gate, clock } = this.context
    await fill(readings, gate, this.kind.name, clock.steady())
    for (const { lane, hasMore, nextDueAt } of this.#isStopped ? [] : readings) {
      if (hasMore) this.#wakeNow(lane, Infinity)
      else if (nextDueAt !== null) this.#wakeAfter(lane, nextDueAt - clock.steady())
    }
    const subjects = readings.flatMap(({ jobs }) => jobs.map(({ subject }) => subject))
    if (subjects.length === 0) return
    const loaded = await this.kind.load(subjects)
    for (const { lane, slots, jobs } of readings)
      for (const job of jobs) if (!this.#begin(lane, job, loaded.get(job.subject), slots)) break
  }

  /** Begins a job with one of the slots. Returns false if no job of the lane may begin now. */
  #begin(lane: Lane, job: Job, subject: Subject | undefined, slots: Slot[]): boolean {
    const [slot] = slots
    if (slot === undefined || this.#isStopped || lane.heldUntil > this.context.clock.monotonic()) return false
    const key = subject === undefined ? undefined : this.kind.keyOf?.(subject)
    if (key !== undefined && !slot.hold(key)) {
      lane.giveBack()
      lane.alsoLimitedBy(key)
      this.#wakeNow(lane, Infinity)
      return false
    }
    slots.shift()
    lane.running.add(job.seq)
    this.#track(this.#run(lane, job, subject, slot))
    return true
  }

  #endReading({ lane, slots }: Reading): void {
    lane.isBeingRead = false
    for (const slot of slots) slot.release()
    if (lane.wanted === 0) lane.giveBack()
    this.#forgetIfIdle(lane)
  }

  async #run(lane: Lane, job: Job, subject: Subject | undefined, slot: Slot): Promise<void> {
    const { freed } = lane
    const outcome = await this.#outcome(job, subject, slot)
    if (outcome?.type === 'snooze') await storeSnooze(this.context, job, outcome.delayMs)
    // Before the slot is released, because the lane may be the next one to get it.
    if (outcome === null) this.#hold(lane, RETRY_AFTER_FAULT_MS)
    else if (outcome.type === 'snooze') this.#wakeAfter(lane, outcome.delayMs)
    else if (outcome.type === 'wait') this.#hold(lane, lane.freed === freed ? outcome.delayMs : 0)
    lane.running.delete(job.seq)
    slot.release()
    this.#forgetIfIdle(lane)
  }

  /** Returns null if the run threw. */
  async #outcome(job: Job, subject: Subject | undefined, slot: Slot): Promise<JobOutcome | null> {
    try {
      if (subject === undefined) return await deleteJob(this.context, job)
      return await this.kind.run(job, subject, slot)
    } catch (error) {
      this.context.log.error({ kind: job.kind, jobId: job.id, ...unexpected(error) }, 'job failed, trying again')
      return null
    }
  }

  #forgetIfIdle(lane: Lane): void {
    if (lane.isIdle) this.#lanes.delete(nameOf(lane.lane, lane.tenantId))
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#tasks.delete(tracked))
    this.#tasks.add(tracked)
  }

  #logUnreadable(error: unknown): void {
    this.context.log.error({ kind: this.kind.name, error: errorName(error) }, 'jobs cannot be read, trying again')
  }
}
