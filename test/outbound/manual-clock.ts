import type { Clock } from '../../src/core/clock.ts'

/** A clock that only `advance` moves. */
export class ManualClock implements Clock {
  #now = 0
  #timers: { at: number; run: () => void }[] = []

  now(): number {
    return this.#now
  }

  steady(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + delayMs, run }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer))
  }

  advance(ms: number): void {
    this.#now += ms
    const due = this.#timers.filter((timer) => timer.at <= this.#now)
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now)
    for (const timer of due) timer.run()
  }
}
