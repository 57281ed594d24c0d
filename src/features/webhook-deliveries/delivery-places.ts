import {
  MAX_SLOW_WEBHOOKS,
  MAX_WEBHOOKS_IN_FLIGHT,
  MAX_WEBHOOKS_PER_HOST,
  MAX_WEBHOOKS_PER_TARGET,
  MAX_WEBHOOKS_PER_TENANT,
  SLOW_WEBHOOK_MS,
} from '../../core/limits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Job } from '../../jobs/job.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { type Place, Places } from '../../jobs/places.ts'

/**
 * Who may POST now: so many at once that hanging destinations delay nobody, 4 to one destination, 8 to one host and half
 * of all for one tenant at most. A POST that has ended takes none of these, although its outcome is not stored yet.
 */
export class DeliveryPlaces {
  readonly #targets = new Tally(MAX_WEBHOOKS_PER_TARGET)
  readonly #hosts = new Tally(MAX_WEBHOOKS_PER_HOST)
  readonly #tenants = new Tally(MAX_WEBHOOKS_PER_TENANT)
  readonly #places: Places

  constructor(
    clock: Clock,
    readonly jobs: Pick<Jobs, 'freed' | 'laneFreed' | 'release'>,
  ) {
    const bounds = { quick: MAX_WEBHOOKS_IN_FLIGHT, slow: MAX_SLOW_WEBHOOKS, slowAfterMs: () => SLOW_WEBHOOK_MS }
    this.#places = new Places(clock, bounds, () => jobs.freed('webhook'))
  }

  /** Bound of all under way, slow and ended ones included. */
  get maxInFlight(): number {
    return this.#places.max
  }

  /** How many more may begin in a destination's lane. */
  room(lane: string): { jobs: number; waitMs: number } {
    return { jobs: this.#targets.left(lane), waitMs: Infinity }
  }

  /** Takes a place for the host of `url`; null when it or the tenant has all of its places in use. */
  enter(url: string, { lane, tenantId }: Pick<Job, 'lane' | 'tenantId'>): Place | null {
    const host = URL.parse(url)?.host ?? ''
    if (this.#hosts.left(host) <= 0 || this.#tenants.left(tenantId) <= 0) return null
    this.#targets.add(lane)
    this.#hosts.add(host)
    this.#tenants.add(tenantId)
    const place = this.#places.enter()
    let posting = true
    const ended = (): void => {
      if (!posting) return
      posting = false
      const wasFull = [this.#hosts.remove(host), this.#tenants.remove(tenantId)]
      if (wasFull.includes(true)) this.jobs.release('webhook')
      if (this.#targets.remove(lane)) this.jobs.laneFreed('webhook', lane, tenantId)
    }
    return {
      answered: () => (ended(), place.answered()),
      leave: () => (ended(), place.leave()),
    }
  }
}

/** How many there are of each name, up to a bound. */
class Tally {
  readonly #counts = new Map<string, number>()

  constructor(readonly max: number) {}

  left(name: string): number {
    return this.max - (this.#counts.get(name) ?? 0)
  }

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Answers whether it was full. */
  remove(name: string): boolean {
    const count = this.#counts.get(name) ?? 1
    if (count === 1) this.#counts.delete(name)
    else this.#counts.set(name, count - 1)
    return count === this.max
  }
}
