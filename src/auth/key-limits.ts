import { LRUCache } from 'lru-cache'
import { bounded } from '../core/bounded.ts'
import type { Clock } from '../core/clock.ts'
import { MAX_LIMITED_APPS, WINDOW_MS } from '../core/limits.ts'
import { SlidingWindow } from '../core/sliding-window.ts'

export interface LimitState {
  allowed: boolean
  limit: number
  remaining: number
  /** Seconds until the next request is allowed, at least 1; only meaningful if this one is not. */
  retryAfterSeconds: number
  /** Seconds until the oldest counted request leaves the window. */
  resetSeconds: number
}

/** The contract's limit of requests per key: an exact sliding window of 60 s, per app. Refused requests do not count. */
export class KeyLimits {
  readonly #windows = new LRUCache<string, SlidingWindow>(bounded(MAX_LIMITED_APPS))

  constructor(
    readonly clock: Clock,
    readonly perMinute: number,
  ) {}

  /** Counts one request of the app if its window has room. */
  take(appId: string): LimitState {
    const now = this.clock.monotonic()
    let window = this.#windows.get(appId)
    if (window === undefined) this.#windows.set(appId, (window = new SlidingWindow(this.perMinute, WINDOW_MS)))
    const allowed = window.tryAdd(now)
    return {
      allowed,
      limit: this.perMinute,
      remaining: window.room(now),
      retryAfterSeconds: Math.max(1, seconds(window.waitMs(now))),
      resetSeconds: seconds(window.resetMs(now)),
    }
  }
}

/** Rounds up. The clock has fractions, so a full window could come out as 61 s without the cap. */
const seconds = (ms: number): number => Math.ceil(Math.min(ms, WINDOW_MS) / 1000)
