import type { Slot } from '../../core/limiter.ts'
import type { Gate } from '../../db/gate.ts'
import type { Job, LoopKindName } from './job.ts'
import { readFirstJobs } from './job-rows.ts'
import { type Lane, nameOf } from './lane.ts'

/** The result of one read for one lane. */
export interface Reading {
  lane: Lane
  /** The slots that the lane had when the read began. Each job that starts takes one. */
  slots: Slot[]
  /** The next due jobs, at most one for each slot. */
  jobs: Job[]
  /** The lane has more due jobs than slots. */
  hasMore: boolean
  /** Steady time at which its next job is due; null if it has none, or more due ones. */
  nextDueAt: number | null
}

/** A wake after this leads to another read, because this read may not see its job. */
export function beginReading(lane: Lane): Reading {
  lane.isBeingRead = true
  lane.wanted = 0
  return { lane, slots: lane.slots.splice(0), jobs: [], hasMore: false, nextDueAt: null }
}

/** Reads the next jobs of all these lanes in one query, without the running ones. */
export async function fill(
  readings: readonly Reading[],
  gate: Gate,
  kind: LoopKindName,
  steadyNow: number,
): Promise<void> {
  const lanes = readings.map(({ lane }) => lane)
  const running = lanes.flatMap((lane) => [...lane.running])
  // One more row shows whether there are more jobs, or when the next one is due.
  const limit = Math.max(...readings.map(({ slots }) => slots.length)) + 1
  const stored = await readFirstJobs(gate, kind, lanes, running, limit)
  const byLane = Map.groupBy(stored, ({ lane, tenantId }) => nameOf(lane, tenantId))
  for (const reading of readings) {
    const { lane, slots } = reading
    const found = byLane.get(nameOf(lane.lane, lane.tenantId)) ?? []
    const due = found.filter(({ dueAt }) => dueAt <= steadyNow)
    reading.jobs = due.slice(0, slots.length)
    reading.hasMore = due.length > slots.length
    reading.nextDueAt = reading.hasMore ? null : (found[due.length]?.dueAt ?? null)
  }
}
