import { eq } from 'drizzle-orm'
import { errorName } from '../core/log.ts'
import { jobs } from '../db/schema/jobs.ts'
import { build, statementOf } from '../db/statement.ts'
import { DONE, type Job, type JobOutcome } from './job.ts'
import type { LoopContext } from './loop-context.ts'

type RunContext = Pick<LoopContext, 'writer' | 'clock' | 'log'>

/** Deletes a job, for example because its subject is gone. */
export async function deleteJob({ writer }: Pick<LoopContext, 'writer'>, { seq }: Job): Promise<JobOutcome> {
  await writer.write([statementOf(build.delete(jobs).where(eq(jobs.seq, seq)))])
  return DONE
}

/** Stores when the job is due again. If that fails, the time is kept in memory until the next start. */
export async function storeSnooze({ clock, writer, log }: RunContext, job: Job, delayMs: number): Promise<void> {
  const dueAt = Math.ceil(clock.steady() + delayMs)
  await writer
    .write([statementOf(build.update(jobs).set({ dueAt }).where(eq(jobs.seq, job.seq)))])
    .catch((error: unknown) =>
      log.warn(
        { jobId: job.id, error: errorName(error) },
        'the time of a snoozed job could not be stored; it is kept in memory until the next start',
      ),
    )
}
