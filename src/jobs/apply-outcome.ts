import { RETRY_AFTER_FAULT_MS } from '../core/limits.ts'
import type { JobOutcome } from './job.ts'
import { type Lane, type PrefetchedJob, hold, putBack, rewind, snooze } from './lanes.ts'

/** The lane when a run began. Shows whether it was freed or rewound during the run. */
export type LaneVersion = Pick<Lane, 'freed' | 'scan'>

export const versionOf = ({ freed, scan }: Lane): LaneVersion => ({ freed, scan })

/** How a run ended. `fault`: the run threw. */
export type RunEnd = JobOutcome | { type: 'fault' }

/** Lets the lane go on or wait, according to how the run of one of its jobs ended. */
export function applyOutcome(
  lane: Lane,
  job: PrefetchedJob,
  end: Exclude<RunEnd, { type: 'done' }>,
  before: LaneVersion,
  now: number,
): void {
  switch (end.type) {
    case 'snooze':
      return snooze(lane, now + end.delayMs)
    case 'reread':
      return rewind(lane)
    case 'fault':
      lane.faultedUntil = Math.max(lane.faultedUntil, now + RETRY_AFTER_FAULT_MS)
      hold(lane, lane.faultedUntil)
      return rewind(lane)
    case 'wait':
      // The lane may have been freed while the job ran.
      if (lane.freed === before.freed) hold(lane, now + end.delayMs)
      // The next read of a lane that was rewound includes this job.
      return lane.scan === before.scan ? putBack(lane, job) : rewind(lane)
  }
}
