import { eachActive, keepAlive, readNumbersDaily, resumeRefreshes, watchSubscriptions } from './features/rc/upkeep.ts'
import { purgeLinks } from './features/rc/purge.ts'
import { sendJobs } from './features/sms/deliver.ts'
import { fenceJobs } from './features/sms/fence.ts'
import { purgeMessages } from './features/sms/purge.ts'
import { recoverOpenAttempts, seedQuota } from './features/sms/recover.ts'
import { settleJobs } from './features/sms/settle.ts'
import { closeInterrupted } from './features/webhook-deliveries/recover.ts'
import { webhookJobs } from './features/webhook-deliveries/deliver.ts'
import { purgeDeliveries } from './features/webhook-deliveries/purge.ts'
import { backFill, backFillJobs } from './features/webhooks/back-fill.ts'
import { fanOutJobs } from './features/webhooks/fan-out.ts'
import { purgeTombstones } from './features/webhooks/tombstones.ts'
import type { Gateway } from './gateway.ts'
import { makeAllDue } from './jobs/job-rows.ts'
import { Schedule } from './jobs/schedule.ts'

/** Which verb runs which kind of job. */
export function registerJobs(gateway: Gateway): void {
  gateway.jobs.register(sendJobs(gateway))
  gateway.jobs.register(settleJobs(gateway))
  gateway.jobs.register(fenceJobs(gateway))
  gateway.jobs.register(webhookJobs(gateway))
  gateway.jobs.register(backFillJobs(gateway))
  gateway.jobs.register(fanOutJobs(gateway))
}

/** What an earlier run left behind, before any job runs. */
export async function recover(gateway: Gateway): Promise<void> {
  await makeAllDue(gateway.database.gate, Math.ceil(gateway.clock.steady()))
  await seedQuota(gateway)
  await gateway.failedAttempts.restore()
  await resumeRefreshes(gateway)
  const interrupted = await closeInterrupted(gateway)
  if (interrupted > 0)
    gateway.log.warn({ deliveries: interrupted }, 'webhook deliveries were interrupted and are not repeated')
  const opened = await recoverOpenAttempts(gateway)
  if (opened > 0) gateway.log.warn({ attempts: opened }, 'sends of unknown outcome are being settled with the provider')
}

const MINUTE_MS = 60_000
const SUBSCRIPTIONS_EVERY_MS = 10 * MINUTE_MS
const BACK_FILL_EVERY_MS = 15 * MINUTE_MS
const HOURLY_MS = 60 * MINUTE_MS

/** Recurring work, by timer. */
export function startTimers(gateway: Gateway): Schedule {
  const schedule = new Schedule(gateway.clock, gateway.log)
  schedule.every('back-fill', BACK_FILL_EVERY_MS, 0, () =>
    eachActive(gateway, 'back-fill', (row) => backFill(gateway, row)),
  )
  // Without a subscription nothing comes in but by back-fill: a pause of the provider's is over after a minute, mostly.
  const watch = async (): Promise<void> => {
    if (await watchSubscriptions(gateway, (row) => backFill(gateway, row)))
      schedule.once('subscriptions again', MINUTE_MS, watch)
  }
  schedule.every('subscriptions', SUBSCRIPTIONS_EVERY_MS, 0, watch)
  schedule.every('keep-alive', HOURLY_MS, MINUTE_MS, () => keepAlive(gateway))
  schedule.every('numbers', HOURLY_MS, 2 * MINUTE_MS, () => readNumbersDaily(gateway))
  schedule.every('purge', HOURLY_MS, 3 * MINUTE_MS, () => purgeDeliveries(gateway))
  schedule.every('purge messages', HOURLY_MS, 6 * MINUTE_MS, () => purgeMessages(gateway))
  schedule.every('purge links', HOURLY_MS, 4 * MINUTE_MS, () => purgeLinks(gateway))
  schedule.every('purge tombstones', HOURLY_MS, 7 * MINUTE_MS, () => purgeTombstones(gateway))
  schedule.every('purge blocks', HOURLY_MS, 5 * MINUTE_MS, () => gateway.failedAttempts.purge())
  return schedule
}
