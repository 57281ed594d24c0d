import type { JobOutcome } from './job.ts'
import { type Lane, type PrefetchedJob, hold, putBack, rewind, snooze } from './lanes.ts'
import { RETRY_AFTER_FAULT_MS } from './run-job.ts'

/** How often the lane had been freed and rewound when a run began. */
export type LaneVersion = Pick<Lane, 'freed' | 'rewinds'>

export const versionOf = ({ freed, rewinds }: Lane): LaneVersion => ({ freed, rewinds })

/** How a run ended. `fault`: it threw. */
export type RunEnd = JobOutcome | { type: 'fault' }

/** Lets the lane go on, or wait, after one of its jobs has run. */
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
      // What the job waits for may have come while it ran.
      if (lane.freed === before.freed) hold(lane, now + end.delayMs)
      // A lane that was rewound is read again, with this job.
      return lane.rewinds === before.rewinds ? putBack(lane, job) : rewind(lane)
  }
}
