import type { Job, JobOutcome } from './job.ts'

/** A job that is due, with its run. */
export interface ReadyJob {
  job: Job
  run(): Promise<JobOutcome>
}

/**
 * What the loop remembers of a tenant's lane that has jobs. Two tenants may use the same name (a number that both have
 * connected): each has a lane of its own, so that one which is held does not hold the other. Times are monotonic milliseconds.
 */
export interface Lane {
  name: string
  tenantId: string
  /** The last job that was picked or lies ready; newer ones are read from there. */
  cursor: number
  /** The next ones, in their order: they begin without being read again. */
  ready: ReadyJob[]
  /** There may be jobs behind the cursor. */
  pending: boolean
  /** Nothing is picked before then. */
  heldUntil: number
  /** Nothing lets it go before then. */
  faultedUntil: number
  /** How often it was freed. */
  freed: number
  /** When the earliest snoozed job is due; the lane is then read from its start. */
  snoozedUntil: number | null
  inFlight: Set<number>
  /** It may hold jobs that are not due yet and that `snoozedUntil` does not know of. */
  unseen: boolean
  /** Steady time at which its reading from the start began: what was not due then may lie behind the cursor. Null before. */
  readSince: number | null
  /** Its jobs are being read: it must not be forgotten meanwhile. */
  reading: boolean
  /** How often it was rewound: what was read before a rewind is out of date. */
  rewinds: number
}

/** Whether it may have jobs that could begin. */
export const hasWork = (lane: Lane): boolean => lane.pending || lane.ready.length > 0

/** Read to its end and held by nothing: a job that comes now is the next one. */
export const isQuiet = (lane: Lane, now: number): boolean =>
  !hasWork(lane) && !lane.reading && lane.heldUntil <= now && (lane.snoozedUntil === null || lane.snoozedUntil > now)

/** The lane is read from its start again: a job behind the cursor has come due or goes back to its place. */
export function rewind(lane: Lane): void {
  lane.cursor = 0
  lane.ready = []
  lane.pending = true
  lane.unseen = true
  lane.readSince = null
  lane.rewinds++
}

/** Everything up to this job has begun, lies ready, or is known to come due later. */
export function pass(lane: Lane, seq: number): void {
  lane.cursor = Math.max(lane.cursor, seq)
}

/** The job begins when those before it have, and a place is free. */
export function layReady(lane: Lane, ready: ReadyJob): void {
  pass(lane, ready.job.seq)
  lane.ready.push(ready)
}

/** Lets a held lane go. */
export function letGo(lane: Lane, now: number): void {
  lane.heldUntil = lane.faultedUntil > now ? lane.faultedUntil : 0
}

/** A job that had begun takes its place among those that lie ready again. */
export function layBack(lane: Lane, ready: ReadyJob): void {
  const place = lane.ready.findIndex(({ job }) => job.seq > ready.job.seq)
  lane.ready.splice(place < 0 ? lane.ready.length : place, 0, ready)
}

/** One of its jobs comes due then; others go on. */
export function snooze(lane: Lane, until: number): void {
  lane.snoozedUntil = lane.snoozedUntil === null ? until : Math.min(lane.snoozedUntil, until)
}

/** All lanes of one kind, served in turn: first by tenant, then by lane, so that nobody waits behind a crowd. */
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
        ready: [],
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

  /** The same for a job that was just added: lanes with jobs are known, so one that is not has this job alone. */
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

  /** Forgets a lane that has nothing left. */
  dropIfIdle(lane: Lane): void {
    if (hasWork(lane) || lane.reading || lane.snoozedUntil !== null) return
    if (lane.inFlight.size > 0) return
    const lanes = this.#tenants.get(lane.tenantId)
    // It may have been forgotten and made anew meanwhile.
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

/** A job of it that was put off is due: the lane must be read from its start. */
const isDue = (lane: Lane, now: number): boolean => lane.snoozedUntil !== null && lane.snoozedUntil <= now

function dueOf(lane: Lane): number | null {
  if (hasWork(lane) && lane.heldUntil > 0) return lane.heldUntil
  return lane.snoozedUntil === null ? null : Math.max(lane.snoozedUntil, lane.heldUntil)
}
