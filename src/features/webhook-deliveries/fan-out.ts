import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import { FAN_OUT } from './delivery-rows.ts'

/** The `fan_out` job: an inbound message becomes one `webhook` job for each app and trigger that wants it. */
export const fanOutJobs = (gateway: Gateway): JobKind<string> => ({
  name: 'fan_out',
  maxInFlight: 16,
  maxPerLane: 4,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => fanOut(gateway, job),
})

async function fanOut(gateway: Gateway, job: Job): Promise<JobOutcome> {
  const targets = await gateway.database.writer.row(FAN_OUT, {
    jobSeq: job.seq,
    jobId: job.id,
    tenantId: job.tenantId,
    messageId: job.subject,
    runAt: Math.ceil(gateway.clock.steady()),
    now: gateway.clock.now(),
  })
  for (const row of targets) gateway.jobs.added('webhook', String(row['lane']), job.tenantId)
  return DONE
}
