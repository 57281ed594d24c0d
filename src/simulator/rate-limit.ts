import type { Clock } from '../core/clock.ts'

/**
 * User-level limits (RingCentral developer guide, "Rate limits"): per extension, app and group, a sliding window and a
 * penalty that every further request restarts.
 */
export interface RateLimit {
  /** Counts a request. Every answer must have the returned headers. */
  take(key: string, group: Group): RateOutcome
  limits: Limits
}

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

export function createRateLimit(clock: Clock, enabled: boolean): RateLimit {
  const counters = new Map<string, Counter>()
  const limits: Limits = {
    enabled,
    light: 50,
    medium: 40,
    heavy: 10,
    auth: 5,
    windowMs: 60_000,
    penaltyMs: 60_000,
  }

  function take(key: string, group: Group): RateOutcome {
    if (!limits.enabled) return NO_LIMITS
    const now = clock.monotonic()
    const counter = counterOf(`${group} ${key}`)
    if (now < counter.penaltyUntil) return refuse(counter, group, now)
    while ((counter.taken[0] ?? now) <= now - limits.windowMs) counter.taken.shift()
    if (counter.taken.length >= limits[group]) return refuse(counter, group, now)
    counter.taken.push(now)
    return { allowed: true, headers: headersOf(group, limits[group] - counter.taken.length) }
  }

  function counterOf(name: string): Counter {
    const known = counters.get(name)
    if (known !== undefined) return known
    const counter = { taken: [], penaltyUntil: Number.NEGATIVE_INFINITY }
    counters.set(name, counter)
    return counter
  }

  /** The window is empty after a penalty, so that a client that sent nothing during it has its full budget again. */
  function refuse(counter: Counter, group: Group, now: number): RateOutcome {
    counter.penaltyUntil = now + limits.penaltyMs
    counter.taken = []
    const retryAfter = { 'Retry-After': String(Math.ceil(limits.penaltyMs / 1000)) }
    return { allowed: false, headers: { ...retryAfter, ...headersOf(group, 0) } }
  }

  const headersOf = (group: Group, remaining: number): Record<string, string> => ({
    'X-Rate-Limit-Group': group,
    'X-Rate-Limit-Limit': String(limits[group]),
    'X-Rate-Limit-Remaining': String(remaining),
    'X-Rate-Limit-Window': String(Math.ceil(limits.windowMs / 1000)),
  })

  return { take, limits }
}
