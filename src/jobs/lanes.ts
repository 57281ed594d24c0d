import type { JobOutcome } from './job.ts'

/**
 * What the loop remembers of a tenant's lane that has jobs. Two tenants may use the same name (a number that both have
 * connected): each has a lane of its own, so that one which is held does not hold the other. Times are monotonic milliseconds.
 */
export interface Lane {
  name: string
  tenantId: string
  /** The last job that was picked; newer ones are read from there. */
  cursor: number
  /** There may be jobs behind the cursor. */
  pending: boolean
  /** Nothing is picked before then. */
  heldUntil: number
  /** When the earliest snoozed job is due; the lane is then read from its start. */
  snoozedUntil: number | null
  inFlight: Set<number>
  /** Places taken for jobs that are being committed. Nothing is picked meanwhile: it could be one of them. */
  reserved: number
  /** It may hold jobs that are not due yet and that `snoozedUntil` does not know of. */
  unseen: boolean
  /** Steady time at which its reading from the start began: what was not due then may lie behind the cursor. Null before. */
  readSince: number | null
  /** Its jobs are being read: it must not be forgotten meanwhile. */
  reading: boolean
  /** How often it was rewound: what was read before a rewind is out of date. */
  rewinds: number
}

/** Read to its end and held by nothing: a job that comes now is the next one. */
export const isQuiet = (lane: Lane, now: number): boolean =>
  !lane.pending && !lane.reading && lane.heldUntil <= now && (lane.snoozedUntil === null || lane.snoozedUntil > now)

/** The lane is read from its start again: a job behind the cursor has come due or goes back to its place. */
export function rewind(lane: Lane): void {
  lane.cursor = 0
  lane.pending = true
  lane.unseen = true
  lane.readSince = null
  lane.rewinds++
}

/** Everything up to this job has begun, or is known to come due later. */
export function pass(lane: Lane, seq: number): void {
  lane.cursor = Math.max(lane.cursor, seq)
}

/** What a run's outcome means for its lane. */
export function putOffLane(lane: Lane, outcome: JobOutcome, now: number): void {
  if (outcome.type === 'snooze') snooze(lane, now + outcome.delayMs)
  if (outcome.type === 'hold' || outcome.type === 'fault') hold(lane, now + outcome.delayMs)
}

/** Nothing is picked before then, and then from the lane's start. */
function hold(lane: Lane, until: number): void {
  lane.heldUntil = Math.max(lane.heldUntil === Infinity ? 0 : lane.heldUntil, until)
  rewind(lane)
}

/** One of its jobs comes due then; others go on. */
export function snooze(lane: Lane, until: number): void {
  lane.snoozedUntil = lane.snoozedUntil === null ? until : Math.min(lane.snoozedUntil, until)
}

/** All lanes of one kind, served in turn: first by tenant, then by lane, so that nobody waits behind a crowd. */
export class Lanes {
  readonly #tenants = new Map<string, Map<string, Lane>>()

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
        pending: true,
        heldUntil: 0,
        snoozedUntil: null,
        inFlight: new Set(),
        reserved: 0,
        unseen: true,
        readSince: null,
        reading: false,
        rewinds: 0,
      }
      lanes.set(name, lane)
    }
    return lane
  }

  /** The same for a job that was just added: lanes with jobs are known, so one that is not has this job alone. */
  ofNewJob(name: string, tenantId: string): Lane {
    const known = this.#tenants.get(tenantId)?.get(name)
    if (known !== undefined) return known
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
    if (lane.pending || lane.reading || lane.snoozedUntil !== null) return
    if (lane.inFlight.size > 0 || lane.reserved > 0) return
    const lanes = this.#tenants.get(lane.tenantId)
    lanes?.delete(lane.name)
    if (lanes?.size === 0) this.#tenants.delete(lane.tenantId)
  }

  *all(): Generator<Lane> {
    for (const lanes of this.#tenants.values()) yield* lanes.values()
  }
}

function nextReady(lanes: Map<string, Lane>, now: number, taken: ReadonlySet<Lane>): Lane | null {
  for (const lane of lanes.values()) {
    if (lane.heldUntil > now || lane.reserved > 0 || taken.has(lane)) continue
    if (lane.snoozedUntil !== null && lane.snoozedUntil <= now) {
      lane.snoozedUntil = null
      rewind(lane)
    }
    if (lane.pending) return lane
  }
  return null
}

function dueOf(lane: Lane): number | null {
  if (lane.pending && lane.heldUntil > 0) return lane.heldUntil
  return lane.snoozedUntil === null ? null : Math.max(lane.snoozedUntil, lane.heldUntil)
}
