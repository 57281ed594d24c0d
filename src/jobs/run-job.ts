import { errorName } from '../core/log.ts'
import type { LoopContext } from './loop-context.ts'
import { DONE, type Job, type JobOutcome } from './job.ts'

export const RETRY_AFTER_FAULT_MS = 1000

type RunContext = Pick<LoopContext, 'writer' | 'clock' | 'log'>

/** A job that throws holds its lane for a moment. */
export function faultOf({ log }: RunContext, job: Job, error: unknown): JobOutcome {
  log.error({ kind: job.kind, jobId: job.id, error: errorName(error) }, 'job failed, trying again')
  return { type: 'fault', delayMs: RETRY_AFTER_FAULT_MS }
}

/** A job whose subject is gone is removed. */
export const orphanRun =
  ({ writer }: RunContext, { seq }: Job) =>
  async (): Promise<JobOutcome> => {
    await writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [seq] }])
    return DONE
  }

/** Writes when the job is due again. Where that fails the lane knows it all the same, until the next start. */
export async function putOff({ clock, writer, log }: RunContext, job: Job, delayMs: number): Promise<void> {
  const dueAt = Math.ceil(clock.steady() + delayMs)
  await writer
    .write([{ sql: 'UPDATE jobs SET due_at = ?1 WHERE seq = ?2', args: [dueAt, job.seq] }])
    .catch((error: unknown) => log.warn({ jobId: job.id, error: errorName(error) }, 'job could not be put off'))
}
