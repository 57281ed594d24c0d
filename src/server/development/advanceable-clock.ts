import { type Clock, systemClock } from '../../core/clock.ts'

/** The system's clock, which a test can move forward. */
export interface AdvanceableClock extends Clock {
  /** Moves the time forward, and runs timers that have become due, in order, as when a machine wakes up. */
  advance(ms: number): void
}

interface Timer {
  /** By `monotonic`. */
  dueAt: number
  cancel(): void
  run(): void
}

export function createAdvanceableClock(): AdvanceableClock {
  let advancedMs = 0
  const timers = new Set<Timer>()
  const monotonic = (): number => systemClock.monotonic() + advancedMs

  function arm(timer: Timer): void {
    timer.cancel = systemClock.after(Math.max(0, timer.dueAt - monotonic()), () => {
      timers.delete(timer)
      timer.run()
    })
  }

  return {
    now: () => systemClock.now() + advancedMs,
    steady: () => systemClock.steady() + advancedMs,
    monotonic,
    after(delayMs, callback) {
      const timer: Timer = { dueAt: monotonic() + delayMs, cancel: () => undefined, run: callback }
      timers.add(timer)
      arm(timer)
      return () => {
        timers.delete(timer)
        timer.cancel()
      }
    },
    advance(ms) {
      advancedMs += ms
      for (const timer of [...timers].toSorted((a, b) => a.dueAt - b.dueAt)) {
        // An earlier timer may have cancelled this one.
        if (!timers.has(timer)) continue
        timer.cancel()
        if (timer.dueAt > monotonic()) {
          arm(timer)
          continue
        }
        timers.delete(timer)
        timer.run()
      }
    },
  }
}
