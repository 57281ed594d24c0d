import type { LimiterBounds } from '../../core/limiter.ts'
import {
  MAX_RETRIES_IN_FLIGHT,
  MAX_RETRIES_PER_DESTINATION,
  MAX_RETRIES_PER_HOST,
  MAX_RETRIES_PER_TENANT,
  MAX_WEBHOOKS_IN_FLIGHT,
  MAX_WEBHOOKS_PER_DESTINATION,
  MAX_WEBHOOKS_PER_HOST,
  MAX_WEBHOOKS_PER_TENANT,
  RESERVED_RETRIES_PER_TENANT,
  RESERVED_WEBHOOKS_PER_TENANT,
} from '../../core/limits.ts'
import type { Gateway } from '../gateway.ts'
import type { JobKind } from '../jobs/job.ts'
import { deliver } from './deliver.ts'
import type { Delivery } from './delivery.ts'
import { loadDeliveries } from './load-deliveries.ts'
import { SigningSecrets } from './signing-secrets.ts'

/** How many POSTs of one kind of job may be in progress at once. */
interface DeliveryLimits {
  bounds: LimiterBounds
  perHost: number
  perDestination: number
}

const FIRST_ATTEMPTS: DeliveryLimits = {
  bounds: {
    total: MAX_WEBHOOKS_IN_FLIGHT,
    perTenant: MAX_WEBHOOKS_PER_TENANT,
    reservedPerTenant: RESERVED_WEBHOOKS_PER_TENANT,
  },
  perHost: MAX_WEBHOOKS_PER_HOST,
  perDestination: MAX_WEBHOOKS_PER_DESTINATION,
}

/** Retries have separate slots, so that they never delay first attempts. */
const RETRIES: DeliveryLimits = {
  bounds: {
    total: MAX_RETRIES_IN_FLIGHT,
    perTenant: MAX_RETRIES_PER_TENANT,
    reservedPerTenant: RESERVED_RETRIES_PER_TENANT,
  },
  perHost: MAX_RETRIES_PER_HOST,
  perDestination: MAX_RETRIES_PER_DESTINATION,
}

/** The `webhook` job is the first attempt of a delivery, the `webhook_retry` job a further one. */
export function deliveryJobs(gateway: Gateway): JobKind<Delivery>[] {
  const secrets = new SigningSecrets(gateway.secrets)
  const jobs = (name: 'webhook' | 'webhook_retry', limits: DeliveryLimits): JobKind<Delivery> => ({
    name,
    bounds: limits.bounds,
    maxPerLane: limits.perDestination,
    keyOf: ({ tenantId, url }) => ({ name: `${tenantId} ${hostOf(url)}`, max: limits.perHost }),
    load: (ids) => loadDeliveries(gateway, ids),
    run: (job, delivery, slot) => deliver(gateway, secrets, job, delivery, slot),
  })
  return [jobs('webhook', FIRST_ATTEMPTS), jobs('webhook_retry', RETRIES)]
}

/** A dot at the end of a host name does not make it a different host. */
function hostOf(url: string | null): string {
  const { hostname = '', port = '' } = URL.parse(url ?? '') ?? {}
  return `${hostname.replace(/\.$/, '')}:${port}`
}
