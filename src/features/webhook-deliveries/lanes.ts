import { MAX_SLOW_WEBHOOKS, MAX_WEBHOOKS_IN_FLIGHT, MAX_WEBHOOKS_PER_HOST, SLOW_WEBHOOK_MS } from '../../core/limits.ts'
import type { Clock } from '../../core/clock.ts'
import { Places } from '../../jobs/places.ts'

/** Who may POST now: so many at once that hanging destinations delay nobody, and 8 to one host at most. */
export class DeliveryLanes {
  readonly #hosts = new Map<string, number>()
  readonly #places: Places

  constructor(
    clock: Clock,
    readonly freed: () => void,
  ) {
    const bounds = { quick: MAX_WEBHOOKS_IN_FLIGHT, slow: MAX_SLOW_WEBHOOKS, slowAfterMs: SLOW_WEBHOOK_MS }
    this.#places = new Places(clock, bounds, freed)
  }

  /** Bound of all POSTs under way, slow ones included. */
  get maxInFlight(): number {
    return this.#places.max
  }

  /** Takes a place for the host of `url`; null when it has all of its places in use. The answer gives it back. */
  enter(url: string): (() => void) | null {
    const host = URL.parse(url)?.host ?? ''
    const count = this.#hosts.get(host) ?? 0
    if (count >= MAX_WEBHOOKS_PER_HOST) return null
    this.#hosts.set(host, count + 1)
    const place = this.#places.enter()
    return () => {
      place.leave()
      this.#leave(host)
    }
  }

  #leave(host: string): void {
    const count = (this.#hosts.get(host) ?? 1) - 1
    if (count === 0) this.#hosts.delete(host)
    else this.#hosts.set(host, count)
    if (count === MAX_WEBHOOKS_PER_HOST - 1) this.freed()
  }
}
