import type { Clock } from '../../src/core/clock.ts'

/** A clock that only `advance` moves, so that no test waits for time. */
export interface ManualClock extends Clock {
  /** Advances the time and fires the timers that become due, in order, each at its own time. */
  advance(ms: number): void
}

interface Timer {
  dueAt: number
  callback: () => void
}

const DEFAULT_START = Date.parse('2026-11-21T02:30:00.000Z')

export function manualClock(startMs: number = DEFAULT_START): ManualClock {
  let now = startMs
  const timers = new Set<Timer>()

  function earliest(until: number): Timer | undefined {
    let found: Timer | undefined
    for (const timer of timers)
      if (timer.dueAt <= until && (found === undefined || timer.dueAt < found.dueAt)) found = timer
    return found
  }

  return {
    now: () => now,
    steady: () => now,
    monotonic: () => now - startMs,
    after(delayMs, callback) {
      const timer = { dueAt: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const until = now + ms
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) {
        timers.delete(timer)
        now = Math.max(now, timer.dueAt)
        timer.callback()
      }
      now = until
    },
  }
}
