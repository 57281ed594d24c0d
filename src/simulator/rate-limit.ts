import type { Clock } from '../core/clock.ts'

export type Group = 'light' | 'medium' | 'heavy' | 'auth'

export interface Limits {
  enabled: boolean
  /** Requests per window. */
  light: number
  medium: number
  heavy: number
  auth: number
  windowMs: number
  penaltyMs: number
}

export interface RateOutcome {
  allowed: boolean
  headers: Record<string, string>
}

interface Counter {
  /** Times of the requests within the window, oldest first. */
  taken: number[]
  penaltyUntil: number
}

const NO_LIMITS: RateOutcome = { allowed: true, headers: {} }

/**
 * User-level limits (RingCentral developer guide, "Rate limits"): per extension, app and group, a sliding window and a
 * penalty that every further request restarts.
 */
export class RateLimit {
  readonly #counters = new Map<string, Counter>()
  readonly limits: Limits

  constructor(
    private readonly clock: Clock,
    enabled: boolean,
  ) {
    this.limits = { enabled, light: 50, medium: 40, heavy: 10, auth: 5, windowMs: 60_000, penaltyMs: 60_000 }
  }

  /** Counts a request. Every answer must have the returned headers. */
  take(key: string, group: Group): RateOutcome {
    const { limits } = this
    if (!limits.enabled) return NO_LIMITS
    const now = this.clock.monotonic()
    const counter = this.#counterOf(`${group} ${key}`)
    if (now < counter.penaltyUntil) return this.#refuse(counter, group, now)
    while ((counter.taken[0] ?? now) <= now - limits.windowMs) counter.taken.shift()
    if (counter.taken.length >= limits[group]) return this.#refuse(counter, group, now)
    counter.taken.push(now)
    return { allowed: true, headers: headersOf(limits, group, limits[group] - counter.taken.length) }
  }

  #counterOf(name: string): Counter {
    const known = this.#counters.get(name)
    if (known !== undefined) return known
    const counter = { taken: [], penaltyUntil: Number.NEGATIVE_INFINITY }
    this.#counters.set(name, counter)
    return counter
  }

  /** The window is empty after a penalty, so that a client that sent nothing during it has its full budget again. */
  #refuse(counter: Counter, group: Group, now: number): RateOutcome {
    counter.penaltyUntil = now + this.limits.penaltyMs
    counter.taken = []
    const retryAfter = { 'Retry-After': String(Math.ceil(this.limits.penaltyMs / 1000)) }
    return { allowed: false, headers: { ...retryAfter, ...headersOf(this.limits, group, 0) } }
  }
}

const headersOf = (limits: Limits, group: Group, remaining: number): Record<string, string> => ({
  'X-Rate-Limit-Group': group,
  'X-Rate-Limit-Limit': String(limits[group]),
  'X-Rate-Limit-Remaining': String(remaining),
  'X-Rate-Limit-Window': String(Math.ceil(limits.windowMs / 1000)),
})
