import {
  eachActive,
  keepAlive,
  readNumbersDaily,
  resumeRefreshes,
  watchSubscription,
  watchSubscriptions,
} from '../messages/upkeep/extensions.ts'
import { ConsentReadings } from '../messages/upkeep/consent-readings.ts'
import { SilentExtensions } from '../messages/upkeep/silent-extensions.ts'
import { CampaignReader } from '../messages/upkeep/read-campaigns.ts'
import { ThreadFills } from '../messages/upkeep/thread-fills.ts'
import { keepFollowing } from '../messages/upkeep/follow-conversations.ts'
import { watchProvider } from '../messages/upkeep/watch-provider.ts'
import { purgeMedia } from '../messages/media/purge-media.ts'
import { purgeConsents } from '../messages/upkeep/purge-consents.ts'
import { purgeLinks } from '../messages/upkeep/purge-links.ts'
import { purgeMessages } from '../messages/upkeep/purge-messages.ts'
import { connectConfigured } from '../operator/configured-jwt.ts'
import { FileCheck } from '../operator/file-check.ts'
import { Alerts } from '../operator/alerts/alerts.ts'
import { purgeUsage } from '../messages/upkeep/purge-usage.ts'
import { closeInterrupted } from '../messages/webhooks/interrupted.ts'
import { deliveryJobs } from '../messages/webhooks/delivery-jobs.ts'
import { purgeDeliveries } from '../messages/upkeep/purge-deliveries.ts'
import { probeStorage } from '../db/storage-check.ts'
import { purgeEvents, purgeEventsEveryMs } from '../messages/upkeep/purge-events.ts'
import { backFill, backFillJobs } from '../messages/inbound/back-fill.ts'
import { fillThreads } from '../messages/inbound/fill-threads.ts'
import { takeEvent } from '../messages/inbound/take-event.ts'
import { purgeTombstones } from '../messages/inbound/tombstones.ts'
import type { Gateway } from '../messages/gateway.ts'
import { BACK_FILL_EVERY_MS } from '../core/limits.ts'
import { watchClock } from '../provider/clock-check.ts'
import type { ExtensionRow } from '../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../provider/extension-rows.ts'
import type { InboundSubscriptions } from '../provider/inbound-subscriptions.ts'
import { makeAllDue } from '../messages/jobs/job-rows.ts'
import { Timers } from '../messages/jobs/timers.ts'
import { expireMessages } from '../messages/sending/expire.ts'
import { lookupJobs } from '../messages/sending/lookup.ts'
import { recoverLateCommits, recoverSending } from '../messages/sending/recover.ts'

/** Registers the handler of each kind of job. */
export function registerJobs(gateway: Gateway): void {
  gateway.jobs.register(lookupJobs(gateway.sending))
  for (const kind of deliveryJobs(gateway)) gateway.jobs.register(kind)
  gateway.jobs.register(backFillJobs(gateway))
  const receive: InboundSubscriptions['receive'] = async ({ tenantId, extensionId }, event) => {
    if (event.kind === 'ignored') return gateway.log.debug({ why: event.why }, 'event ignored')
    if (!(await takeEvent(gateway, { tenantId, extensionId, providerId: null }, event)))
      gateway.log.warn({ tenantId, extensionId }, 'an event of another tenant arrived on a socket and was ignored')
  }
  gateway.subscriptions.receive = receive
  gateway.threadSubscriptions.receive = receive
  gateway.consentSubscriptions.receive = receive
}

/** Recovers what an earlier process left behind, before any job runs. */
export async function recover(gateway: Gateway): Promise<void> {
  await gateway.webhookWaker.refresh()
  // All at the same time, so that they share a commit: under a lease, each commit waits until it is stored.
  const [interrupted] = await Promise.all([
    closeInterrupted(gateway),
    makeAllDue(gateway.database.orm, Math.ceil(gateway.clock.steady())),
    gateway.failedAttempts.restore(),
    // These include the subscriptions of message threads and consents.
    gateway.subscriptions.recover(),
  ])
  await resumeRefreshes(gateway)
  if (interrupted > 0)
    gateway.log.warn(
      { deliveries: interrupted },
      'webhook deliveries were interrupted; only those with a retry policy are tried again',
    )
  const opened = await recoverSending(gateway.sending)
  if (opened > 0)
    gateway.log.warn({ attempts: opened }, 'sends with an unknown outcome are being looked up at the provider')
  await gateway.sending.scheduled.enterDue()
  await expireMessages(gateway.sending, gateway.lifecycle)
}

const MINUTE_MS = 60_000
const SUBSCRIPTIONS_EVERY_MS = 10 * MINUTE_MS
const NUMBERS_EVERY_MS = 10 * MINUTE_MS
const HOURLY_MS = 60 * MINUTE_MS
const EXPIRY_EVERY_MS = 5000
const PROVIDER_EVERY_MS = 30_000
const CLOCK_EVERY_MS = 5000
const ALERTS_EVERY_MS = 5000
const STORAGE_EVERY_MS = 5000

/** Starts the timer that finds jobs that this process does not know. */
export const watchOrphans = (timers: Timers, { sending }: Gateway): void =>
  timers.every('orphans', MINUTE_MS, MINUTE_MS, () => recoverLateCommits(sending))

/** Starts the timers of recurring work. */
export function startTimers(gateway: Gateway): Timers {
  const timers = new Timers(gateway.clock, gateway.log)
  startReceiving(timers, gateway)
  timers.every('delivery tracking', MINUTE_MS, 0, () => gateway.receipts.findOpen())
  watchOrphans(timers, gateway)
  timers.every('expiry', EXPIRY_EVERY_MS, 0, () => expireMessages(gateway.sending, gateway.lifecycle))
  timers.every('provider', PROVIDER_EVERY_MS, 0, () => watchProvider(gateway))
  timers.every('keep-alive', HOURLY_MS, MINUTE_MS, () => keepAlive(gateway))
  timers.every('numbers', NUMBERS_EVERY_MS, 2 * MINUTE_MS, () => readNumbersDaily(gateway))
  timers.every('conversations', MINUTE_MS, MINUTE_MS, () => keepFollowing(gateway))
  timers.every('lost keys', MINUTE_MS, MINUTE_MS, async () => {
    if (gateway.lostKeys.lost !== null) await gateway.lostKeys.check()
  })
  timers.every('clock', CLOCK_EVERY_MS, CLOCK_EVERY_MS, watchClock(gateway))
  connectConfigured(timers, gateway)
  startPurges(timers, gateway)
  // Alerts also check this, but a hanging post delays them.
  timers.every('storage', STORAGE_EVERY_MS, STORAGE_EVERY_MS, () => probeStorage(gateway))
  const fileCheck = new FileCheck(gateway)
  // A stop does not wait for it.
  timers.every('file check', HOURLY_MS, HOURLY_MS, async () => void fileCheck.run())
  const alerts = new Alerts(gateway, gateway.config.alertUrl)
  gateway.alerts.check = () => alerts.check()
  gateway.alerts.setMutes = (change) => alerts.setMutes(change)
  timers.every('alerts', ALERTS_EVERY_MS, ALERTS_EVERY_MS, () => alerts.run())
  return timers
}

/** Starts the subscriptions that bring inbound messages, and the back-fills that find the messages they miss. */
function startReceiving(timers: Timers, gateway: Gateway): void {
  const missed = (row: ExtensionRow): Promise<unknown> => fillGap(timers, gateway, row)
  timers.every('back-fill', BACK_FILL_EVERY_MS, 0, () =>
    eachActive(gateway, 'back-fill', async (row) => {
      if ((await backFill(gateway, row)) ?? 0) gateway.subscriptions.overlooked(row)
    }),
  )
  timers.every('subscriptions', SUBSCRIPTIONS_EVERY_MS, 0, () => watchSubscriptions(gateway, missed))
  const plan = (key: ExtensionKey, ms: number): void =>
    timers.once(`subscription of ${nameOf(key)}`, ms, () => watchSubscription(gateway, key, missed))
  const silent = new SilentExtensions(gateway, timers)
  gateway.subscriptions.planned = (key, nextMs, isActive) => {
    silent.note(key, isActive)
    // A subscription that expires before the next check needs its own timer.
    if (nextMs < SUBSCRIPTIONS_EVERY_MS) plan(key, nextMs)
  }
  const silentThreads = new SilentExtensions(gateway, timers, { topic: 'threads', fill: fillThreads, group: 'threads' })
  gateway.threadSubscriptions.planned = (key, nextMs, isActive) => {
    silentThreads.note(key, isActive)
    if (nextMs < SUBSCRIPTIONS_EVERY_MS) plan(key, nextMs)
  }
  const fills = new ThreadFills(gateway, timers)
  gateway.threads.changed = (key) => fills.wake(key)
  gateway.numbers.threadsFound = (key) => plan(key, 0)
  const campaigns = new CampaignReader(gateway, timers)
  gateway.numbers.localsFound = (key, numbers) => campaigns.listed(key, numbers)
  startConsents(timers, gateway, plan)
  // Without tokens, nothing is scheduled.
  gateway.tokens.restored = (key) => plan(key, 0)
}

/** Starts the readings of consents, and the subscriptions that report changes in between. */
function startConsents(timers: Timers, gateway: Gateway, plan: (key: ExtensionKey, ms: number) => void): void {
  gateway.consentSubscriptions.planned = (key, nextMs) => {
    if (nextMs < SUBSCRIPTIONS_EVERY_MS) plan(key, nextMs)
  }
  const readings = new ConsentReadings(gateway, timers)
  timers.every('consents', MINUTE_MS, MINUTE_MS, () => readings.look())
  gateway.consents.changed = (key) => timers.once(`consents of ${nameOf(key)}`, 0, () => readings.changed(key))
  gateway.consents.readerFound = (key) => plan(key, 0)
}

const GAP_RETRY_MS = 30_000

/** Fills a gap of the events. If this fails, the next periodic back-fill may be many minutes away. */
async function fillGap(timers: Timers, gateway: Gateway, { tenantId, extensionId }: ExtensionKey): Promise<void> {
  const row = await gateway.directory.extension(tenantId, extensionId)
  let isFilled = row?.status !== 'active'
  try {
    if (row !== null && !isFilled) isFilled = (await backFill(gateway, row)) !== null
  } finally {
    const key = { tenantId, extensionId }
    if (!isFilled) timers.once(`gap of ${nameOf(key)}`, GAP_RETRY_MS, () => fillGap(timers, gateway, key))
  }
}

/** When to retry a purge that did not run because the clock was not trusted. */
const UNTRUSTED_PURGE_MS = MINUTE_MS

/** Starts the purges. None runs while the clock is not trusted: it may be days ahead. */
function startPurges(timers: Timers, gateway: Gateway): void {
  const purge = (name: string, everyMs: number, firstMs: number, work: () => Promise<unknown>): void =>
    timers.once(`purge ${name}`, firstMs, async () => {
      const { isTrusted } = gateway.clockCheck
      try {
        if (isTrusted) await work()
      } finally {
        purge(name, everyMs, isTrusted ? everyMs : Math.min(everyMs, UNTRUSTED_PURGE_MS), work)
      }
    })
  purge('deliveries', HOURLY_MS, 3 * MINUTE_MS, () => purgeDeliveries(gateway))
  purge('messages', HOURLY_MS, 6 * MINUTE_MS, () => purgeMessages(gateway))
  const eventsMs = purgeEventsEveryMs(gateway.config)
  purge('events', eventsMs, eventsMs, () => purgeEvents(gateway))
  purge('consents', HOURLY_MS, 9 * MINUTE_MS, () => purgeConsents(gateway))
  purge('links', HOURLY_MS, 4 * MINUTE_MS, () => purgeLinks(gateway))
  purge('tombstones', HOURLY_MS, 7 * MINUTE_MS, () => purgeTombstones(gateway))
  purge('usage', HOURLY_MS, 8 * MINUTE_MS, () => purgeUsage(gateway))
  purge('media', 10 * MINUTE_MS, MINUTE_MS, () => purgeMedia(gateway.media, gateway))
  purge('blocks', HOURLY_MS, 5 * MINUTE_MS, () => gateway.failedAttempts.purge())
}
