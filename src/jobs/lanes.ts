import type { Job, JobOutcome } from './job.ts'

/** A job that is due, with its run. */
export interface PrefetchedJob {
  job: Job
  run(): Promise<JobOutcome>
}

/**
 * The state of a tenant's lane that has jobs. Two tenants may use the same name (an extension that both have connected):
 * each has a lane of its own, so that holding one does not hold the other. Times are monotonic milliseconds.
 */
export interface Lane {
  name: string
  tenantId: string
  /** The newest job that was prefetched or has begun; reading goes on behind it. */
  cursor: number
  /** The next jobs, in their order: they begin without being read again. */
  prefetched: PrefetchedJob[]
  /** There may be jobs behind the cursor. */
  pending: boolean
  /** Nothing begins before then. Infinity: nothing begins until a job of the lane ends or the lane is freed. */
  heldUntil: number
  /** A job threw: until then nothing ends the hold. */
  faultedUntil: number
  /** How often it was freed. */
  freed: number
  /** When the earliest snoozed job is due; the lane is then read from its start. */
  snoozedUntil: number | null
  inFlight: Set<number>
  /** It may have jobs that are not due yet and that `snoozedUntil` does not cover. */
  unseen: boolean
  /** Steady time at which it was last read from its start: jobs that were not due then may stand before the cursor. Null before. */
  readSince: number | null
  /** Its jobs are being read: it must not be dropped meanwhile. */
  reading: boolean
  /** How often it was rewound: jobs that were read before a rewind are out of date. */
  rewinds: number
}

/** Whether it may have jobs that could begin. */
export const hasWork = (lane: Lane): boolean => lane.pending || lane.prefetched.length > 0

/** Read to its end and not held: a job that is added now is the next one. */
export const isQuiet = (lane: Lane, now: number): boolean =>
  !hasWork(lane) && !lane.reading && lane.heldUntil <= now && (lane.snoozedUntil === null || lane.snoozedUntil > now)

/** Lets the lane be read from its start again: a job before the cursor has come due, or prefetched jobs are out of date. */
export function rewind(lane: Lane): void {
  lane.cursor = 0
  lane.prefetched = []
  lane.pending = true
  lane.unseen = true
  lane.readSince = null
  lane.rewinds++
}

/** Everything up to this job has begun, is prefetched, or is known to come due later. */
export function pass(lane: Lane, seq: number): void {
  lane.cursor = Math.max(lane.cursor, seq)
}

/** The job begins after those before it, when there is room. */
export function prefetch(lane: Lane, prefetched: PrefetchedJob): void {
  pass(lane, prefetched.job.seq)
  lane.prefetched.push(prefetched)
}

/** Nothing of the lane begins before then. */
export function hold(lane: Lane, until: number): void {
  lane.heldUntil = Math.max(lane.heldUntil === Infinity ? 0 : lane.heldUntil, until)
}

/** Ends a hold, unless a job of the lane threw a moment ago. */
export function endHold(lane: Lane, now: number): void {
  lane.heldUntil = lane.faultedUntil > now ? lane.faultedUntil : 0
}

/** Returns a job that had begun to its position among the prefetched ones. */
export function putBack(lane: Lane, prefetched: PrefetchedJob): void {
  const index = lane.prefetched.findIndex(({ job }) => job.seq > prefetched.job.seq)
  lane.prefetched.splice(index < 0 ? lane.prefetched.length : index, 0, prefetched)
}

/** One of its jobs comes due then; others go on. */
export function snooze(lane: Lane, until: number): void {
  lane.snoozedUntil = lane.snoozedUntil === null ? until : Math.min(lane.snoozedUntil, until)
}

/** All lanes of one kind. Tenants take turns, and so do the lanes of a tenant: a long backlog delays nobody else. */
export class Lanes {
  readonly #tenants = new Map<string, Map<string, Lane>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The lane of that name, made on first mention. */
  get(name: string, tenantId: string): Lane {
    let lanes = this.#tenants.get(tenantId)
    if (lanes === undefined) this.#tenants.set(tenantId, (lanes = new Map<string, Lane>()))
    let lane = lanes.get(name)
    if (lane === undefined) {
      lane = {
        name,
        tenantId,
        cursor: 0,
        prefetched: [],
        pending: true,
        heldUntil: 0,
        faultedUntil: 0,
        freed: 0,
        snoozedUntil: null,
        inFlight: new Set(),
        unseen: true,
        readSince: null,
        reading: false,
        rewinds: 0,
      }
      lanes.set(name, lane)
      this.#size++
    }
    return lane
  }

  known(name: string, tenantId: string): Lane | null {
    return this.#tenants.get(tenantId)?.get(name) ?? null
  }

  /** The lane of a job that was just added. Lanes with jobs are known, so a new one has no other job. */
  ofNewJob(name: string, tenantId: string): Lane {
    const known = this.known(name, tenantId)
    if (known !== null) return known
    const lane = this.get(name, tenantId)
    lane.pending = false
    return lane
  }

  /** Up to `count` lanes that can be picked from at `now`: one of each tenant, then a second one of each, and so on. */
  take(now: number, count: number): Lane[] {
    const taken = new Set<Lane>()
    for (let before = -1; before < taken.size && taken.size < count;) {
      before = taken.size
      this.#takeRound(taken, now, count)
    }
    return [...taken]
  }

  /** One lane of each tenant that has another one; both go to the end of their turn. */
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

  /** When the earliest held or snoozed lane is due; null when nothing waits for a time. */
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
    // It may have been dropped and made anew meanwhile.
    if (lanes?.get(lane.name) !== lane) return
    lanes.delete(lane.name)
    this.#size--
    if (lanes.size === 0) this.#tenants.delete(lane.tenantId)
  }

  *all(): Generator<Lane> {
    for (const lanes of this.#tenants.values()) yield* lanes.values()
  }
}

function nextReady(lanes: Map<string, Lane>, now: number, taken: ReadonlySet<Lane>): Lane | null {
  for (const lane of lanes.values()) {
    if (lane.heldUntil > now || taken.has(lane)) continue
    if (isDue(lane, now)) {
      lane.snoozedUntil = null
      rewind(lane)
    }
    if (hasWork(lane)) return lane
  }
  return null
}

/** A snoozed job is due: the lane must be read from its start. */
const isDue = (lane: Lane, now: number): boolean => lane.snoozedUntil !== null && lane.snoozedUntil <= now

function dueOf(lane: Lane): number | null {
  if (hasWork(lane) && lane.heldUntil > 0) return lane.heldUntil
  return lane.snoozedUntil === null ? null : Math.max(lane.snoozedUntil, lane.heldUntil)
}
