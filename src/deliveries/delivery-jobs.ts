import type { Gateway } from '../gateway.ts'
import type { JobKind } from '../jobs/job.ts'
import { deliver } from './deliver.ts'
import type { Delivery } from './delivery.ts'
import { type DeliveryLimits, DeliverySlots, FIRST_ATTEMPTS, RETRIES } from './delivery-slots.ts'
import { loadDeliveries } from './load-deliveries.ts'
import { SigningSecrets } from './signing-secrets.ts'

/** The `webhook` job is the first attempt of a delivery, the `webhook_retry` job a further one. */
export function deliveryJobs(gateway: Gateway): JobKind<Delivery>[] {
  const secrets = new SigningSecrets(gateway.secrets)
  return [FIRST_ATTEMPTS, RETRIES].map((limits) => jobsWithin(limits, gateway, secrets))
}

function jobsWithin(limits: DeliveryLimits, gateway: Gateway, secrets: SigningSecrets): JobKind<Delivery> {
  const slots = new DeliverySlots(gateway.clock, gateway.jobs, limits)
  return {
    name: limits.kind,
    ...limits.reading,
    get maxInFlight() {
      return slots.maxInFlight
    },
    // A POST that was answered runs on until its result is stored, but has given back its slot.
    maxPerLane: limits.perDestination * 2,
    room: (lane) => slots.room(lane),
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery) => deliver(gateway, { slots, secrets }, job, delivery),
  }
}
