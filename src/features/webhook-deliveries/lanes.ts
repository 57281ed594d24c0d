import { MAX_SLOW_WEBHOOKS, MAX_WEBHOOKS_IN_FLIGHT, MAX_WEBHOOKS_PER_HOST, SLOW_WEBHOOK_MS } from '../../core/limits.ts'
import type { Clock } from '../../core/clock.ts'

/**
 * Who may POST now. 64 POSTs run at once; one that has not been answered within a moment is counted as slow and frees
 * its place for others, up to a second bound, so that hanging destinations delay nobody. 8 go to one host at most.
 */
export class DeliveryLanes {
  readonly #hosts = new Map<string, number>()
  #slow = 0

  constructor(
    readonly clock: Clock,
    readonly freed: () => void,
  ) {}

  /** Bound of all POSTs under way, slow ones included. */
  get maxInFlight(): number {
    return MAX_WEBHOOKS_IN_FLIGHT + Math.min(this.#slow, MAX_SLOW_WEBHOOKS)
  }

  /** Takes a place for the host of `url`; null when it has all of its places in use. The answer gives it back. */
  enter(url: string): (() => void) | null {
    const host = URL.parse(url)?.host ?? ''
    const count = this.#hosts.get(host) ?? 0
    if (count >= MAX_WEBHOOKS_PER_HOST) return null
    this.#hosts.set(host, count + 1)
    let slow = false
    const cancel = this.clock.after(SLOW_WEBHOOK_MS, () => {
      slow = true
      this.#slow++
      this.freed()
    })
    return () => {
      cancel()
      if (slow) this.#slow--
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
