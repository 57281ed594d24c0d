import {
  eachActive,
  keepAlive,
  readNumbersDaily,
  resumeRefreshes,
  watchSubscription,
  watchSubscriptions,
} from './upkeep/extensions.ts'
import { purgeLinks } from './upkeep/purge-links.ts'
import { purgeMessages } from './upkeep/purge-messages.ts'
import { purgeUsage } from './upkeep/purge-usage.ts'
import { closeInterrupted } from './deliveries/recover.ts'
import { webhookJobs } from './deliveries/deliver.ts'
import { purgeDeliveries } from './upkeep/purge-deliveries.ts'
import { backFill, backFillJobs } from './inbound/back-fill.ts'
import { fanOutJobs } from './inbound/fan-out.ts'
import { purgeTombstones } from './inbound/tombstones.ts'
import type { Gateway } from './gateway.ts'
import type { ExtensionRow } from './provider/directory.ts'
import { makeAllDue } from './jobs/job-rows.ts'
import { Schedule } from './jobs/schedule.ts'
import { expireMessages } from './sending/expire.ts'
import { lookupJobs } from './sending/reconcile.ts'
import { recoverSending } from './sending/recover.ts'

/** Which verb runs which kind of job. */
export function registerJobs(gateway: Gateway): void {
  gateway.jobs.register(lookupJobs(gateway.sending))
  gateway.jobs.register(webhookJobs(gateway))
  gateway.jobs.register(backFillJobs(gateway))
  gateway.jobs.register(fanOutJobs(gateway))
}

/** What an earlier run left behind, before any job runs. */
export async function recover(gateway: Gateway): Promise<void> {
  await makeAllDue(gateway.database.gate, Math.ceil(gateway.clock.steady()))
  await gateway.failedAttempts.restore()
  await resumeRefreshes(gateway)
  const interrupted = await closeInterrupted(gateway)
  if (interrupted > 0)
    gateway.log.warn({ deliveries: interrupted }, 'webhook deliveries were interrupted and are not repeated')
  const opened = await recoverSending(gateway.sending)
  if (opened > 0) gateway.log.warn({ attempts: opened }, 'sends of unknown outcome are being looked up at the provider')
  await gateway.sending.scheduled.releaseDue()
  await expireMessages(gateway.sending, gateway.lifecycle)
}

const MINUTE_MS = 60_000
const SUBSCRIPTIONS_EVERY_MS = 10 * MINUTE_MS
const BACK_FILL_EVERY_MS = 15 * MINUTE_MS
const HOURLY_MS = 60 * MINUTE_MS
const EXPIRY_EVERY_MS = 5000

/** Recurring work, by timer. */
export function startTimers(gateway: Gateway): Schedule {
  const schedule = new Schedule(gateway.clock, gateway.log)
  schedule.every('back-fill', BACK_FILL_EVERY_MS, 0, () =>
    eachActive(gateway, 'back-fill', (row) => backFill(gateway, row)),
  )
  const missed = (row: ExtensionRow): Promise<unknown> => backFill(gateway, row)
  schedule.every('subscriptions', SUBSCRIPTIONS_EVERY_MS, 0, () => watchSubscriptions(gateway, missed))
  // Without a subscription nothing comes in but by back-fill, and one of a short life ends between two looks.
  gateway.subscriptions.planned = (key, nextMs) => {
    if (nextMs >= SUBSCRIPTIONS_EVERY_MS) return
    const name = `subscription of ${key.tenantId}/${key.extensionId}`
    schedule.once(name, nextMs, () => watchSubscription(gateway, key, missed))
  }
  schedule.every('expiry', EXPIRY_EVERY_MS, 0, () => expireMessages(gateway.sending, gateway.lifecycle))
  schedule.every('keep-alive', HOURLY_MS, MINUTE_MS, () => keepAlive(gateway))
  schedule.every('numbers', HOURLY_MS, 2 * MINUTE_MS, () => readNumbersDaily(gateway))
  schedule.every('purge', HOURLY_MS, 3 * MINUTE_MS, () => purgeDeliveries(gateway))
  schedule.every('purge messages', HOURLY_MS, 6 * MINUTE_MS, () => purgeMessages(gateway))
  schedule.every('purge links', HOURLY_MS, 4 * MINUTE_MS, () => purgeLinks(gateway))
  schedule.every('purge tombstones', HOURLY_MS, 7 * MINUTE_MS, () => purgeTombstones(gateway))
  schedule.every('purge usage', HOURLY_MS, 8 * MINUTE_MS, () => purgeUsage(gateway))
  schedule.every('purge blocks', HOURLY_MS, 5 * MINUTE_MS, () => gateway.failedAttempts.purge())
  return schedule
}
