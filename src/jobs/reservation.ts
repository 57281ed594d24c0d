import type { Job, JobOutcome } from './job.ts'

/** A job's place, taken before the job is committed: it begins with its commit. Must end in one of the two. */
export interface Reservation {
  /** The job is committed, and this is its run. */
  begin(job: Job, run: () => Promise<JobOutcome>): void
  /** There is no such job, or it waits for its turn like others. */
  cancel(): void
}
