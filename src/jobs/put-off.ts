import type { JobOutcome } from './job.ts'
import { type Lane, type ReadyJob, layBack, rewind, snooze } from './lanes.ts'

/** What a run found when it began, or finds at its end. */
export interface Standing {
  /** How often the kind was released, the lane freed, and sent back to its start. */
  releases: number
  freed: number
  rewinds: number
}

export const standingOf = ({ freed, rewinds }: Lane, releases: number): Standing => ({ releases, freed, rewinds })

export type Unfinished = Exclude<JobOutcome, { type: 'done' }>

/** What a run's outcome means for its lane, where it is not done. */
export function putOffLane(
  lane: Lane,
  ready: ReadyJob,
  outcome: Unfinished,
  { before, after, now }: { before: Standing; after: Standing; now: number },
): void {
  if (outcome.type === 'snooze') return snooze(lane, now + outcome.delayMs)
  const until = now + (isOver(outcome, before, after) ? 0 : outcome.delayMs)
  if (outcome.type === 'fault') lane.faultedUntil = Math.max(lane.faultedUntil, until)
  lane.heldUntil = Math.max(lane.heldUntil === Infinity ? 0 : lane.heldUntil, until)
  // A lane that was sent back to its start is read again in any case, with this job.
  if (outcome.type === 'wait' && before.rewinds === after.rewinds) layBack(lane, ready)
  else rewind(lane)
}

/** What it would wait for was over before it said so. */
function isOver({ type }: Unfinished, before: Standing, after: Standing): boolean {
  if (type === 'fault') return false
  return before.releases !== after.releases || (type === 'wait' && before.freed !== after.freed)
}
