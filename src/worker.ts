import { sendJobs } from './features/sms/deliver.ts'
import { recoverOpenAttempts, seedQuota } from './features/sms/recover.ts'
import { settleJobs } from './features/sms/settle.ts'
import { webhookJobs } from './features/webhook-deliveries/deliver.ts'
import { fanOutJobs } from './features/webhook-deliveries/fan-out.ts'
import { closeInterrupted } from './features/webhook-deliveries/recover.ts'
import type { Gateway } from './gateway.ts'
import { makeAllDue } from './jobs/job-rows.ts'

/** Which verb runs which kind of job. */
export function registerJobs(gateway: Gateway): void {
  gateway.jobs.register(sendJobs(gateway))
  gateway.jobs.register(settleJobs(gateway))
  gateway.jobs.register(fanOutJobs(gateway))
  gateway.jobs.register(webhookJobs(gateway))
}

/** What an earlier run left behind, before any job runs. */
export async function recover(gateway: Gateway): Promise<void> {
  await makeAllDue(gateway.database.gate, Math.ceil(gateway.clock.steady()))
  await seedQuota(gateway)
  await gateway.failedAttempts.restore()
  const interrupted = await closeInterrupted(gateway)
  if (interrupted > 0) gateway.log.warn({ deliveries: interrupted }, 'webhook deliveries were interrupted and are not repeated')
  const opened = await recoverOpenAttempts(gateway)
  if (opened > 0) gateway.log.warn({ attempts: opened }, 'sends of unknown outcome are being settled with the provider')
}
