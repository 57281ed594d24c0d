import type { Gate } from '../db/gate.ts'
import type { Job, JobKind } from './job.ts'
import { readDueJobs } from './job-rows.ts'
import { type Lane, type Scan, isQuiet } from './lanes.ts'

/** How many jobs of a lane may begin now. */
export interface Pick {
  lane: Lane
  limit: number
}

/** A read of jobs from a lane, with the scan of the lane when the query began. */
export interface Reading {
  lane: Lane
  limit: number
  /** Running jobs after the cursor, which the query may return. */
  inFlight: ReadonlySet<number>
  scan: Scan
  jobs: Job[]
}

/** Whether a job that is added now may begin at once: no job of its lane waits, and the lane has room. */
export function canTakeNew<Subject>({ maxPerLane, room }: JobKind<Subject>, lane: Lane, now: number): boolean {
  if (!isQuiet(lane, now) || lane.inFlight.size >= maxPerLane) return false
  return room === undefined || room(lane.name) > 0
}

/** Decides how many jobs of each lane may begin. Holds a lane without room until it is freed. */
export function planPicks<Subject>(kind: JobKind<Subject>, lanes: readonly Lane[], free: number): Pick[] {
  const share = Math.max(1, Math.floor(free / lanes.length))
  return lanes.flatMap((lane) => {
    const room = kind.room?.(lane.name) ?? Infinity
    const limit = Math.min(share, room, kind.maxPerLane - lane.inFlight.size)
    if (limit > 0) return [{ lane, limit }]
    lane.waitsForRoom = true
    return []
  })
}

/** Plans a read of each lane without prefetched jobs: the jobs that are to begin, and `ahead` more. */
export function planReadings(picks: readonly Pick[], ahead: number): Reading[] {
  return picks
    .filter(({ lane }) => lane.scan.prefetched.length === 0)
    .map(({ lane, limit }) => ({
      lane,
      limit: limit + ahead,
      inFlight: new Set([...lane.inFlight].filter((seq) => seq > lane.scan.cursor)),
      scan: lane.scan,
      jobs: [],
    }))
}

/** Reads the jobs that are due, without those that were in flight when the query began: they would run twice. */
export async function read<Subject>(
  gate: Gate,
  { name: kind, order }: JobKind<Subject>,
  readings: readonly Reading[],
  steadyNow: number,
): Promise<void> {
  const requests = readings.map(({ lane, limit, inFlight }) => ({
    ...addressOf(lane),
    after: lane.scan.cursor,
    limit: limit + inFlight.size,
  }))
  const jobs = await readDueJobs(gate, kind, order === 'due' ? 'due_at' : 'seq', requests, steadyNow)
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
