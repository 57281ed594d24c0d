import type { Clock } from '../core/clock.ts'

export interface PlaceBounds {
  /** How many may run at once while all of them are quick. */
  quick: number
  /** How many slow ones may run beside them. */
  slow: number
  /** After this long one counts as slow. */
  slowAfterMs: number
}

/**
 * Places for work that waits for others. One that has not been answered within a moment frees its place, up to a second
 * bound: so a slow answer delays nobody, and quick ones stay so few that connections are used again.
 */
export class Places {
  #slow = 0

  constructor(
    readonly clock: Clock,
    readonly bounds: PlaceBounds,
    /** Called when a place has become free although nobody left. */
    readonly freed: () => void,
  ) {}

  /** How many may run now, slow ones included. */
  get max(): number {
    return this.bounds.quick + Math.min(this.#slow, this.bounds.slow)
  }

  /** Takes a place; the answer gives it back. */
  enter(): () => void {
    let slow = false
    const cancel = this.clock.after(this.bounds.slowAfterMs, () => {
      slow = true
      this.#slow++
      this.freed()
    })
    return () => {
      cancel()
      if (slow) this.#slow--
    }
  }
}
