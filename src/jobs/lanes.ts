import type { Job, JobOutcome } from './job.ts'

/** A due job and the function that runs it. */
export interface PrefetchedJob {
  job: Job
  run(): Promise<JobOutcome>
}

/**
 * The state of a tenant's lane with jobs. If two tenants use the same name (an extension that both have connected), each has
 * its own lane, so that holding one does not hold the other. Times are monotonic milliseconds.
 */
export interface Lane {
  name: string
  tenantId: string
  scan: Scan
  /** Its jobs are being read, so it must not be dropped. */
  reading: boolean
  inFlight: Set<number>
  /** No job begins before this time. */
  heldUntil: number
  /** No job begins until one of the lane ends or the lane is freed. */
  waitsForRoom: boolean
  /** After a job threw: nothing ends the hold before this time. */
  faultedUntil: number
  /** How often the lane was freed. */
  freed: number
  /** When the earliest snoozed job is due. The lane is then read from its start. */
  snoozedUntil: number | null
}

/** A scan of a lane's jobs from its start, in several reads. Jobs of an earlier scan are out of date. */
export interface Scan {
  /** The newest job that was prefetched or has begun. The next read begins after it. */
  cursor: number
  /** The next jobs in order, which begin without another read. */
  prefetched: PrefetchedJob[]
  /** There may be jobs after the cursor. */
  pending: boolean
  /** The lane may have jobs that are not due yet and that `snoozedUntil` does not cover. */
  unseen: boolean
  /** Steady time of the first read: jobs that were not due then may stand before the cursor. Null before the first read. */
  since: number | null
}

const newScan = (): Scan => ({ cursor: 0, prefetched: [], pending: true, unseen: true, since: null })

/** Whether the lane may have jobs that could begin. */
export const hasWork = ({ scan }: Lane): boolean => scan.pending || scan.prefetched.length > 0

const isHeld = (lane: Lane, now: number): boolean => lane.waitsForRoom || lane.heldUntil > now

/** Whether the lane was read to its end and is not held, so that a job that is added now is the next one. */
export const isQuiet = (lane: Lane, now: number): boolean =>
  !hasWork(lane) && !lane.reading && !isHeld(lane, now) && (lane.snoozedUntil === null || lane.snoozedUntil > now)

/** Makes the next read begin at the start of the lane. For when a job before the cursor comes due or prefetched jobs are out of date. */
export function rewind(lane: Lane): void {
  lane.scan = newScan()
}

/** Moves the cursor to this job: all jobs up to it have begun, are prefetched, or are known to come due later. */
export function pass({ scan }: Lane, seq: number): void {
  scan.cursor = Math.max(scan.cursor, seq)
}

/** Adds a job to those that begin, in order, when there is room. */
export function prefetch(lane: Lane, prefetched: PrefetchedJob): void {
  pass(lane, prefetched.job.seq)
  lane.scan.prefetched.push(prefetched)
}

/** Lets no job of the lane begin before `until`. */
export function hold(lane: Lane, until: number): void {
  lane.heldUntil = Math.max(lane.heldUntil, until)
  lane.waitsForRoom = false
}

/** Ends a hold, unless a job of the lane threw a moment ago. */
export function endHold(lane: Lane, now: number): void {
  lane.heldUntil = lane.faultedUntil > now ? lane.faultedUntil : 0
  lane.waitsForRoom = false
}

/** Returns a job that had begun to its position among the prefetched jobs. */
export function putBack(lane: Lane, prefetched: PrefetchedJob): void {
  const { prefetched: others } = lane.scan
  const index = others.findIndex(({ job }) => job.seq > prefetched.job.seq)
  others.splice(index < 0 ? others.length : index, 0, prefetched)
}

/** Notes that a job of the lane comes due at `until`. Its other jobs go on. */
export function snooze(lane: Lane, until: number): void {
  lane.snoozedUntil = lane.snoozedUntil === null ? until : Math.min(lane.snoozedUntil, until)
}

const newLane = (name: string, tenantId: string): Lane => ({
  name,
  tenantId,
  scan: newScan(),
  reading: false,
  inFlight: new Set(),
  heldUntil: 0,
  waitsForRoom: false,
  faultedUntil: 0,
  freed: 0,
  snoozedUntil: null,
})

/** All lanes of one kind. Tenants take turns, and so do the lanes of a tenant, so that a long backlog does not delay other lanes. */
export class Lanes {
  readonly #tenants = new Map<string, Map<string, Lane>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Returns the lane; creates it if it is not known. */
  get(name: string, tenantId: string): Lane {
    let lanes = this.#tenants.get(tenantId)
    if (lanes === undefined) this.#tenants.set(tenantId, (lanes = new Map<string, Lane>()))
    let lane = lanes.get(name)
    if (lane === undefined) {
      lane = newLane(name, tenantId)
      lanes.set(name, lane)
      this.#size++
    }
    return lane
  }

  known(name: string, tenantId: string): Lane | null {
    return this.#tenants.get(tenantId)?.get(name) ?? null
  }

  /** The lane of a job that was just added. All lanes with jobs are known, so a new lane has no other job. */
  ofNewJob(name: string, tenantId: string): Lane {
    const known = this.known(name, tenantId)
    if (known !== null) return known
    const lane = this.get(name, tenantId)
    lane.scan.pending = false
    return lane
  }

  /** Up to `count` lanes with jobs that may begin at `now`: one of each tenant, then a second one of each, and so on. */
  take(now: number, count: number): Lane[] {
    const taken = new Set<Lane>()
    for (let before = -1; before < taken.size && taken.size < count;) {
      before = taken.size
      this.#takeRound(taken, now, count)
    }
    return [...taken]
  }

  /** Takes one more lane of each tenant. Lane and tenant then move to the end of their queues. */
  #takeRound(taken: Set<Lane>, now: number, count: number): void {
    for (const [tenantId, lanes] of Array.from(this.#tenants)) {
      if (taken.size >= count) return
      const lane = nextReady(lanes, now, taken)
      if (lane === null) continue
      taken.add(lane)
      lanes.delete(lane.name)
      lanes.set(lane.name, lane)
      this.#tenants.delete(tenantId)
      this.#tenants.set(tenantId, lanes)
    }
  }

  /** When the earliest held or snoozed lane is due; null if none waits for a time. */
  nextDue(): number | null {
    let due: number | null = null
    for (const lane of this.all()) {
      const at = dueOf(lane)
      if (at !== null && (due === null || at < due)) due = at
    }
    return due
  }

  /** Drops a lane that has no jobs. */
  dropIfIdle(lane: Lane): void {
    if (hasWork(lane) || lane.reading || lane.snoozedUntil !== null) return
    if (lane.inFlight.size > 0) return
    const lanes = this.#tenants.get(lane.tenantId)
    // Another lane of this name may have replaced it.
    if (lanes?.get(lane.name) !== lane) return
    lanes.delete(lane.name)
    this.#size--
    if (lanes.size === 0) this.#tenants.delete(lane.tenantId)
  }

  ofTenant(tenantId: string): Iterable<Lane> {
    return this.#tenants.get(tenantId)?.values() ?? []
  }

  *all(): Generator<Lane> {
    for (const lanes of this.#tenants.values()) yield* lanes.values()
  }
}

function nextReady(lanes: Map<string, Lane>, now: number, taken: ReadonlySet<Lane>): Lane | null {
  for (const lane of lanes.values()) {
    if (isHeld(lane, now) || taken.has(lane)) continue
    if (isDue(lane, now)) {
      lane.snoozedUntil = null
      rewind(lane)
    }
    if (hasWork(lane)) return lane
  }
  return null
}

/** Whether a snoozed job is due, so that the lane must be read from its start. */
const isDue = (lane: Lane, now: number): boolean => lane.snoozedUntil !== null && lane.snoozedUntil <= now

function dueOf(lane: Lane): number | null {
  if (lane.waitsForRoom) return null
  if (hasWork(lane) && lane.heldUntil > 0) return lane.heldUntil
  return lane.snoozedUntil === null ? null : Math.max(lane.snoozedUntil, lane.heldUntil)
}
