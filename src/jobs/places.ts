import type { Clock } from '../core/clock.ts'
import { Alarm } from './alarm.ts'

export interface PlaceBounds {
  /** How many may run at once while all of them are quick. */
  quick: number
  /** How many slow ones may run beside them. */
  slow: number
  /** After this long one that enters now counts as slow, beside so many that do already. */
  slowAfterMs(slow: number): number
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
  /** Neither answered nor slow yet. */
  readonly #quick = new Set<Taken>()
  readonly #alarm: Alarm
  #alarmAt = Infinity
  #slow = 0
  #answered = 0

  constructor(
    readonly clock: Clock,
    readonly bounds: PlaceBounds,
    /** Called when a place has become free although nobody left. */
    readonly freed: () => void,
  ) {
    this.#alarm = new Alarm(clock, () => this.#noteSlow())
  }

  /** How many may run now, slow and answered ones included. */
  get max(): number {
    const { quick, slow } = this.bounds
    return quick + Math.min(this.#slow, slow) + Math.min(this.#answered, quick)
  }

  enter(): Place {
    const slowAt = this.clock.monotonic() + this.bounds.slowAfterMs(this.#slow)
    const taken = new Taken(this, slowAt)
    this.#quick.add(taken)
    if (slowAt < this.#alarmAt) this.#watch(slowAt)
    return taken
  }

  /** From one state to another, as its place tells. */
  moved(taken: Taken, from: TakenState, to: TakenState): void {
    if (from === 'quick') this.#quick.delete(taken)
    if (from === 'slow') this.#slow--
    if (from === 'answered') this.#answered--
    if (to === 'slow') this.#slow++
    if (to === 'answered') this.#answered++
    if (to !== 'left') this.freed()
  }

  /** One alarm for all: most are answered long before it rings. */
  #watch(at: number): void {
    this.#alarmAt = at
    this.#alarm.set(at - this.clock.monotonic())
  }

  #noteSlow(): void {
    this.#alarmAt = Infinity
    const now = this.clock.monotonic()
    for (const taken of [...this.#quick].filter(({ slowAt }) => slowAt <= now)) taken.become('slow')
    let next = Infinity
    for (const { slowAt } of this.#quick) next = Math.min(next, slowAt)
    if (next < this.#alarmAt) this.#watch(next)
  }
}

type TakenState = 'quick' | 'slow' | 'answered' | 'left'

class Taken implements Place {
  #state: TakenState = 'quick'

  constructor(
    readonly places: Places,
    readonly slowAt: number,
  ) {}

  answered(): void {
    this.become('answered')
  }

  leave(): void {
    this.become('left')
  }

  become(state: TakenState): void {
    const before = this.#state
    if (before === 'left') return
    this.#state = state
    this.places.moved(this, before, state)
  }
}
