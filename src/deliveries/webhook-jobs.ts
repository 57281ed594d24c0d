import { MAX_PREFETCHED_WEBHOOKS, MAX_RETRIES_PER_DESTINATION, MAX_WEBHOOKS_PER_DESTINATION } from '../core/limits.ts'
import type { Gateway } from '../gateway.ts'
import type { JobKind } from '../jobs/job.ts'
import { type DeliveryTools, deliver } from './deliver.ts'
import type { Delivery } from './delivery.ts'
import { DeliverySlots, FIRST_ATTEMPTS, RETRIES } from './delivery-slots.ts'
import { loadDeliveries } from './load-deliveries.ts'
import { SigningSecrets } from './signing-secrets.ts'

/** The `webhook` job: the first attempt of a delivery. */
export function webhookJobs(gateway: Gateway): JobKind<Delivery> {
  const tools = toolsOf(gateway, new DeliverySlots(gateway.clock, gateway.jobs, FIRST_ATTEMPTS))
  return {
    name: 'webhook',
    get maxInFlight() {
      return tools.slots.maxInFlight
    },
    maxPerLane: MAX_WEBHOOKS_PER_DESTINATION * 2,
    room: (lane) => tools.slots.room(lane),
    maxPrefetched: MAX_PREFETCHED_WEBHOOKS,
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery) => deliver(gateway, tools, job, delivery),
  }
}

/**
 * The `webhook_retry` job: a further attempt of a delivery. It is a separate kind with separate slots, so that retries never
 * delay first attempts.
 */
export function webhookRetryJobs(gateway: Gateway): JobKind<Delivery> {
  const tools = toolsOf(gateway, new DeliverySlots(gateway.clock, gateway.jobs, RETRIES))
  return {
    name: 'webhook_retry',
    order: 'due',
    get maxInFlight() {
      return tools.slots.maxInFlight
    },
    maxPerLane: MAX_RETRIES_PER_DESTINATION * 2,
    room: (lane) => tools.slots.room(lane),
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery) => deliver(gateway, tools, job, delivery),
  }
}

const toolsOf = (gateway: Gateway, slots: DeliverySlots): DeliveryTools => ({
  slots,
  secrets: new SigningSecrets(gateway.secrets),
})
