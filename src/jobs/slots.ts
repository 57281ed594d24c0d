import type { Clock } from '../core/clock.ts'
import { Alarm } from './alarm.ts'

export interface SlotBounds {
  /** How many may run at once while all of them are quick. */
  quick: number
  /** How many slow ones may run in addition. */
  slow: number
  /** A run that is not answered within this time is slow. */
  slowAfterMs: number
}

/** A slot that was acquired. Ends with `release`. */
export interface Slot {
  /** The remote side has answered: another run may begin while this one stores its result. */
  answered(): void
  release(): void
}

/**
 * Slots for work that waits for remote hosts. A run that is not answered soon leaves its slot to others, up to a second
 * bound: slow hosts delay nobody, and quick runs stay few enough to reuse connections. An answered run leaves its slot
 * as well, but no more of these than there are quick ones: a stuck disk must not fill the memory.
 */
export class Slots {
  /** Neither answered nor slow yet, oldest first. */
  readonly #quick = new Set<AcquiredSlot>()
  readonly #alarm: Alarm
  #slow = 0
  #answered = 0

  constructor(
    readonly clock: Clock,
    readonly bounds: SlotBounds,
    /** Called when a slot becomes free before its run has ended. */
    readonly freed: () => void,
  ) {
    this.#alarm = new Alarm(clock, () => this.#noteSlow())
  }

  /** How many may run now, slow and answered ones included. */
  get max(): number {
    const { quick, slow } = this.bounds
    return quick + Math.min(this.#slow, slow) + Math.min(this.#answered, quick)
  }

  acquire(): Slot {
    const slot = new AcquiredSlot(this, this.clock.monotonic() + this.bounds.slowAfterMs)
    this.#quick.add(slot)
    if (this.#quick.size === 1) this.#alarm.set(this.bounds.slowAfterMs)
    return slot
  }

  /** Called by a slot when its state changes. */
  changed(slot: AcquiredSlot, from: SlotState, to: SlotState): void {
    if (from === 'quick') this.#quick.delete(slot)
    if (from === 'slow') this.#slow--
    if (from === 'answered') this.#answered--
    if (to === 'slow') this.#slow++
    if (to === 'answered') this.#answered++
    if (to !== 'released') this.freed()
  }

  /** One alarm serves all slots: most are answered before it rings. */
  #noteSlow(): void {
    const now = this.clock.monotonic()
    for (const slot of [...this.#quick].filter(({ slowAt }) => slowAt <= now)) slot.become('slow')
    const [oldest] = this.#quick
    if (oldest !== undefined) this.#alarm.set(oldest.slowAt - now)
  }
}

type SlotState = 'quick' | 'slow' | 'answered' | 'released'

class AcquiredSlot implements Slot {
  #state: SlotState = 'quick'

  constructor(
    readonly slots: Slots,
    readonly slowAt: number,
  ) {}

  answered(): void {
    this.become('answered')
  }

  release(): void {
    this.become('released')
  }

  become(state: SlotState): void {
    const before = this.#state
    if (before === 'released') return
    this.#state = state
    this.slots.changed(this, before, state)
  }
}
