import type { Job, JobOutcome } from './job.ts'

/** A place, taken before its work is committed: it begins with that commit. Must end in one of the two. */
export interface Reservation {
  /** The work is committed, and this is its run: of a job with a row, or of one without, whose `seq` is below zero. */
  begin(job: Job, run: () => Promise<JobOutcome>): void
  /** Nothing was committed, or it waits for its turn like others. */
  cancel(): void
}
