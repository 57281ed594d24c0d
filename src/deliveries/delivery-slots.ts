import {
  MAX_PREFETCHED_WEBHOOKS,
  MAX_RETRIES_IN_FLIGHT,
  MAX_RETRIES_PER_HOST,
  MAX_RETRIES_PER_DESTINATION,
  MAX_RETRIES_PER_TENANT,
  MAX_SLOW_RETRIES,
  MAX_SLOW_WEBHOOKS,
  MAX_WEBHOOKS_IN_FLIGHT,
  MAX_WEBHOOKS_PER_HOST,
  MAX_WEBHOOKS_PER_DESTINATION,
  MAX_WEBHOOKS_PER_TENANT,
  SLOW_WEBHOOK_MS,
} from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import type { Job, JobKind } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { type Slot, type SlotBounds, Slots } from '../jobs/slots.ts'
import type { Delivery } from './delivery.ts'
import { KeyedSemaphore } from './keyed-semaphore.ts'

/** How many POSTs of one kind of job may run at once. */
export interface DeliveryLimits {
  kind: 'webhook' | 'webhook_retry'
  /** How the job loop reads the jobs. */
  reading: Pick<JobKind<Delivery>, 'maxPrefetched' | 'order'>
  perDestination: number
  perHost: number
  perTenant: number
  bounds: SlotBounds
}

export const FIRST_ATTEMPTS: DeliveryLimits = {
  kind: 'webhook',
  reading: { maxPrefetched: MAX_PREFETCHED_WEBHOOKS },
  perDestination: MAX_WEBHOOKS_PER_DESTINATION,
  perHost: MAX_WEBHOOKS_PER_HOST,
  perTenant: MAX_WEBHOOKS_PER_TENANT,
  bounds: { quick: MAX_WEBHOOKS_IN_FLIGHT, slow: MAX_SLOW_WEBHOOKS, slowAfterMs: SLOW_WEBHOOK_MS },
}

/** Retries have separate slots, so that they never delay first attempts. */
export const RETRIES: DeliveryLimits = {
  kind: 'webhook_retry',
  reading: { order: 'due' },
  perDestination: MAX_RETRIES_PER_DESTINATION,
  perHost: MAX_RETRIES_PER_HOST,
  perTenant: MAX_RETRIES_PER_TENANT,
  bounds: { quick: MAX_RETRIES_IN_FLIGHT, slow: MAX_SLOW_RETRIES, slowAfterMs: SLOW_WEBHOOK_MS },
}

/**
 * Limits POSTs that run at once, in total and for each destination, host and tenant, so that hanging destinations do not
 * delay others. A POST that was answered no longer counts, although its outcome is not stored yet.
 */
export class DeliverySlots {
  readonly #destinations: KeyedSemaphore
  readonly #hosts: KeyedSemaphore
  readonly #tenants: KeyedSemaphore
  readonly #slots: Slots

  constructor(
    clock: Clock,
    readonly jobs: Pick<Jobs, 'freed' | 'laneFreed'>,
    readonly limits: DeliveryLimits,
  ) {
    this.#destinations = new KeyedSemaphore(limits.perDestination)
    this.#hosts = new KeyedSemaphore(limits.perHost)
    this.#tenants = new KeyedSemaphore(limits.perTenant)
    this.#slots = new Slots(clock, limits.bounds, () => jobs.freed(limits.kind))
  }

  /** How many POSTs may run now, slow and answered ones included. */
  get maxInFlight(): number {
    return this.#slots.max
  }

  /** How many more POSTs may begin in a destination's lane. */
  room(lane: string): number {
    return this.#destinations.available(lane)
  }

  /**
   * Acquires a slot for the host of `url`. Returns null if the host or the tenant uses all of its slots; the lane is freed
   * when one is available.
   */
  acquire(url: string, { lane, tenantId }: Pick<Job, 'lane' | 'tenantId'>): Slot | null {
    const freeLane = (): void => this.jobs.laneFreed(this.limits.kind, lane, tenantId)
    const shared = [
      { semaphore: this.#hosts, key: hostOf(url) },
      { semaphore: this.#tenants, key: tenantId },
    ]
    const full = shared.find(({ semaphore, key }) => semaphore.available(key) <= 0)
    if (full !== undefined) {
      full.semaphore.wait(full.key, lane, freeLane)
      return null
    }
    for (const { semaphore, key } of [...shared, { semaphore: this.#destinations, key: lane }])
      semaphore.acquire(key, lane)
    const slot = this.#slots.acquire()
    const releaseShared = once(() => {
      const wasFull = this.#destinations.available(lane) <= 0
      for (const { semaphore, key } of shared) semaphore.release(key)
      this.#destinations.release(lane)
      if (wasFull) freeLane()
    })
    return {
      answered: () => {
        releaseShared()
        slot.answered()
      },
      release: () => {
        releaseShared()
        slot.release()
      },
    }
  }
}

/** A dot at the end of a host name does not make it another host. */
function hostOf(url: string): string {
  const { hostname = '', port = '' } = URL.parse(url) ?? {}
  return `${hostname.replace(/\.$/, '')}:${port}`
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
