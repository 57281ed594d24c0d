import type { Gate } from '../db/gate.ts'
import type { Job, JobKind } from './job.ts'
import { readDueJobs } from './job-rows.ts'
import { type Lane, isQuiet } from './lanes.ts'

/** Jobs being read from a lane, and what the lane was like when the reading began. */
export interface Pick {
  lane: Lane
  limit: number
  inFlight: ReadonlySet<number>
  rewinds: number
  jobs: Job[]
}

/** Whether a job that comes now can run at once: nothing of its lane waits, and the lane has room. */
export function canTakeNew<Subject>({ maxPerLane, room }: JobKind<Subject>, lane: Lane, now: number): boolean {
  if (!isQuiet(lane, now) || lane.inFlight.size + lane.reserved >= maxPerLane) return false
  return room === undefined || room(lane.name, lane.tenantId).jobs > 0
}

/** How much may be read from each lane. One without room is held until it has some. */
export function planPicks<Subject>(kind: JobKind<Subject>, lanes: readonly Lane[], now: number, free: number): Pick[] {
  const share = Math.max(1, Math.floor(free / lanes.length))
  return lanes.flatMap((lane) => {
    const room = kind.room?.(lane.name, lane.tenantId) ?? { jobs: Infinity, waitMs: 0 }
    const limit = Math.min(share, room.jobs, kind.maxPerLane - lane.inFlight.size)
    if (limit > 0) return [{ lane, limit, inFlight: new Set(lane.inFlight), rewinds: lane.rewinds, jobs: [] }]
    lane.heldUntil = room.jobs > 0 ? Infinity : now + Math.max(room.waitMs, 1)
    return []
  })
}

/** Reads the jobs that are due. What was in flight when the reading began is left out even if it has ended since: it would run twice. */
export async function readPicks(gate: Gate, kind: string, picks: readonly Pick[], now: number): Promise<void> {
  const requests = picks.map(({ lane, limit, inFlight }) => ({
    ...addressOf(lane),
    after: lane.cursor,
    limit: limit + inFlight.size,
  }))
  const jobs = await readDueJobs(gate, kind, requests, now)
  for (const pick of picks) {
    const { name, tenantId } = pick.lane
    const own = jobs.filter((job) => job.lane === name && job.tenantId === tenantId && !pick.inFlight.has(job.seq))
    pick.jobs = own.slice(0, pick.limit)
  }
}

export const addressOf = (lane: Lane): { lane: string; tenantId: string } => ({
  lane: lane.name,
  tenantId: lane.tenantId,
})
