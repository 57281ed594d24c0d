import type { Gate } from '../db/gate.ts'
import type { Job, JobKind } from './job.ts'
import { readDueJobs } from './job-rows.ts'
import { type Lane, isQuiet } from './lanes.ts'

/** How many jobs of a lane may begin now. */
export interface Pick {
  lane: Lane
  limit: number
}

/** Jobs being read from a lane, and what the lane was like when the reading began. */
export interface Reading {
  lane: Lane
  limit: number
  /** Behind the cursor: only these could be read. */
  inFlight: ReadonlySet<number>
  rewinds: number
  jobs: Job[]
}

/** Whether a job that comes now can run at once: nothing of its lane waits, and the lane has room. */
export function canTakeNew<Subject>({ maxPerLane, room }: JobKind<Subject>, lane: Lane, now: number): boolean {
  if (!isQuiet(lane, now) || lane.inFlight.size >= maxPerLane) return false
  return room === undefined || room(lane.name, lane.tenantId).jobs > 0
}

/** How many jobs of each lane may begin. One without room is held until it has some. */
export function planPicks<Subject>(kind: JobKind<Subject>, lanes: readonly Lane[], now: number, free: number): Pick[] {
  const share = Math.max(1, Math.floor(free / lanes.length))
  return lanes.flatMap((lane) => {
    const room = kind.room?.(lane.name, lane.tenantId) ?? { jobs: Infinity, waitMs: 0 }
    const limit = Math.min(share, room.jobs, kind.maxPerLane - lane.inFlight.size)
    if (limit > 0) return [{ lane, limit }]
    lane.heldUntil = room.jobs > 0 ? Infinity : now + Math.max(room.waitMs, 1)
    return []
  })
}

/** Of those that have nothing ready: what is to begin, and `ahead` more. */
export function planReadings(picks: readonly Pick[], ahead: number): Reading[] {
  return picks
    .filter(({ lane }) => lane.ready.length === 0)
    .map(({ lane, limit }) => ({
      lane,
      limit: limit + ahead,
      inFlight: new Set([...lane.inFlight].filter((seq) => seq > lane.cursor)),
      rewinds: lane.rewinds,
      jobs: [],
    }))
}

/** Reads the jobs that are due. What was in flight when the reading began is left out even if it has ended since: it would run twice. */
export async function read(gate: Gate, kind: string, readings: readonly Reading[], now: number): Promise<void> {
  const requests = readings.map(({ lane, limit, inFlight }) => ({
    ...addressOf(lane),
    after: lane.cursor,
    limit: limit + inFlight.size,
  }))
  const jobs = await readDueJobs(gate, kind, requests, now)
  for (const reading of readings) {
    const { name, tenantId } = reading.lane
    const own = jobs.filter((job) => job.lane === name && job.tenantId === tenantId && !reading.inFlight.has(job.seq))
    reading.jobs = own.slice(0, reading.limit)
  }
}

export const addressOf = (lane: Lane): { lane: string; tenantId: string } => ({
  lane: lane.name,
  tenantId: lane.tenantId,
})
