/** What the loop remembers of a lane that has jobs. Times are monotonic milliseconds. */
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
      lane = { name, tenantId, cursor: 0, pending: true, heldUntil: 0, snoozedUntil: null, inFlight: new Set() }
      lanes.set(name, lane)
    }
    return lane
  }

  /** Up to `count` lanes that can be picked from at `now`; each goes to the end of its turn. */
  take(now: number, count: number): Lane[] {
    const taken: Lane[] = []
    for (const [tenantId, lanes] of [...this.#tenants]) {
      if (taken.length >= count) break
      const lane = nextReady(lanes, now)
      if (lane === null) continue
      taken.push(lane)
      lanes.delete(lane.name)
      lanes.set(lane.name, lane)
      this.#tenants.delete(tenantId)
      this.#tenants.set(tenantId, lanes)
    }
    return taken
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
    if (lane.pending || lane.snoozedUntil !== null || lane.inFlight.size > 0) return
    const lanes = this.#tenants.get(lane.tenantId)
    lanes?.delete(lane.name)
    if (lanes?.size === 0) this.#tenants.delete(lane.tenantId)
  }

  *all(): Generator<Lane> {
    for (const lanes of this.#tenants.values()) yield* lanes.values()
  }
}

function nextReady(lanes: Map<string, Lane>, now: number): Lane | null {
  for (const lane of lanes.values()) {
    if (lane.heldUntil > now) continue
    if (lane.snoozedUntil !== null && lane.snoozedUntil <= now) {
      lane.snoozedUntil = null
      lane.pending = true
      lane.cursor = 0
    }
    if (lane.pending) return lane
  }
  return null
}

function dueOf(lane: Lane): number | null {
  if (lane.pending && lane.heldUntil > 0) return lane.heldUntil
  return lane.snoozedUntil === null ? null : Math.max(lane.snoozedUntil, lane.heldUntil)
}
