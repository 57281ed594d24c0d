import type { Clock } from '../core/clock.ts'

export interface PlaceBounds {
  /** How many may run at once while all of them are quick. */
  quick: number
  /** How many slow ones may run beside them. */
  slow: number
  /** After this long one that enters now counts as slow, beside so many that do already. */
  slowAfterMs(slow: number): number
  /** How many more may run while none is slow and nobody waits: most of them wait for the disk. */
  unqueued?: number
}

/** A place that was taken. Ends with `leave`. */
export interface Place {
  /** What it waited for has come: another may begin while the rest of its work, such as storing the result, is done. */
  answered(): void
  leave(): void
}

/**
 * Places for work that waits for others. One that has not been answered within a moment frees its place, up to a second
 * bound: so a slow answer delays nobody, and quick ones stay so few that connections are used again. One that has been
 * answered frees it too, but no more of these than there are quick ones: a disk that is stuck must not fill the memory.
 */
export class Places {
  #slow = 0
  #answered = 0

  constructor(
    readonly clock: Clock,
    readonly bounds: PlaceBounds,
    /** Called when a place has become free although nobody left. */
    readonly freed: () => void,
  ) {}

  /** How many may run now, slow and answered ones included. */
  get max(): number {
    const { quick, slow } = this.bounds
    return quick + Math.min(this.#slow, slow) + Math.min(this.#answered, quick)
  }

  get maxUnqueued(): number {
    return this.max + (this.#slow === 0 ? (this.bounds.unqueued ?? 0) : 0)
  }

  enter(): Place {
    let end = (): void => cancel()
    const cancel = this.clock.after(this.bounds.slowAfterMs(this.#slow), () => {
      this.#slow++
      end = () => this.#slow--
      this.freed()
    })
    return {
      answered: () => {
        end()
        this.#answered++
        end = () => this.#answered--
        this.freed()
      },
      leave: () => end(),
    }
  }
}
