import {
  MAX_SLOW_WEBHOOKS,
  MAX_WEBHOOKS_IN_FLIGHT,
  MAX_WEBHOOKS_PER_HOST,
  MAX_WEBHOOKS_PER_TENANT,
  SLOW_WEBHOOK_MS,
} from '../../core/limits.ts'
import type { Clock } from '../../core/clock.ts'
import { Places } from '../../jobs/places.ts'

/** Who may POST now: so many at once that hanging destinations delay nobody, 8 to one host and half of all for one tenant at most. */
export class DeliveryLanes {
  readonly #hosts = new Tally(MAX_WEBHOOKS_PER_HOST)
  readonly #tenants = new Tally(MAX_WEBHOOKS_PER_TENANT)
  readonly #places: Places

  constructor(
    clock: Clock,
    readonly freed: () => void,
  ) {
    const bounds = { quick: MAX_WEBHOOKS_IN_FLIGHT, slow: MAX_SLOW_WEBHOOKS, slowAfterMs: () => SLOW_WEBHOOK_MS }
    this.#places = new Places(clock, bounds, freed)
  }

  /** Bound of all POSTs under way, slow ones included. */
  get maxInFlight(): number {
    return this.#places.max
  }

  /** Takes a place for the host of `url`; null when it or the tenant has all of its places in use. The answer gives it back. */
  enter(url: string, tenantId: string): (() => void) | null {
    const host = URL.parse(url)?.host ?? ''
    if (this.#hosts.isFull(host) || this.#tenants.isFull(tenantId)) return null
    this.#hosts.add(host)
    this.#tenants.add(tenantId)
    const place = this.#places.enter()
    return () => {
      place.leave()
      const wasFull = [this.#hosts.remove(host), this.#tenants.remove(tenantId)]
      if (wasFull.includes(true)) this.freed()
    }
  }
}

/** How many there are of each name, up to a bound. */
class Tally {
  readonly #counts = new Map<string, number>()

  constructor(readonly max: number) {}

  isFull(name: string): boolean {
    return (this.#counts.get(name) ?? 0) >= this.max
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
