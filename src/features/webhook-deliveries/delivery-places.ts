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
import { Tally } from './tally.ts'

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
    readonly jobs: Pick<Jobs, 'freed' | 'laneFreed'>,
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

  /** Takes a place for the host of `url`. Null when the host or the tenant has all of its places in use: the lane hears when one is free. */
  enter(url: string, { lane, tenantId }: Pick<Job, 'lane' | 'tenantId'>): Place | null {
    const free = (): void => this.jobs.laneFreed('webhook', lane, tenantId)
    const shared = [
      { tally: this.#hosts, name: hostOf(url) },
      { tally: this.#tenants, name: tenantId },
    ]
    const full = shared.find(({ tally, name }) => tally.left(name) <= 0)
    if (full !== undefined) return (full.tally.wait(full.name, lane, free), null)
    for (const { tally, name } of [...shared, { tally: this.#targets, name: lane }]) tally.add(name, lane)
    const place = this.#places.enter()
    const ended = once(() => {
      for (const { tally, name } of shared) tally.remove(name)
      if (this.#targets.left(lane) <= 0) free()
      this.#targets.remove(lane)
    })
    return {
      answered: () => (ended(), place.answered()),
      leave: () => (ended(), place.leave()),
    }
  }
}

/** The dot at the end of a name says nothing about where it leads. */
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
