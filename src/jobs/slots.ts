import type { Clock } from '../core/clock.ts'
import { Alarm } from './alarm.ts'

export interface SlotBounds {
  /** How many quick runs there may be at once. */
  quick: number
  /** How many slow runs there may be in addition. */
  slow: number
  /** A run without an answer after this time is slow. */
  slowAfterMs: number
}

/** An acquired slot. The holder must call `release`. */
export interface Slot {
  /** Call when the remote host has answered: another run may begin while this one stores its result. */
  answered(): void
  release(): void
}

/**
 * Slots for work that waits for remote hosts. A run without an answer after `slowAfterMs` counts as slow and frees its quick
 * slot, up to the bound of slow runs. So slow hosts do not delay others, and quick runs stay few enough to reuse connections.
 * An answered run frees its slot as well, up to as many as there are quick slots, so that a stuck disk does not fill the memory.
 */
export class Slots {
  /** Slots that are neither answered nor slow yet, oldest first. */
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

  /** How many runs there may be now, including slow and answered ones. */
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

  /** One alarm serves all slots, because most are answered before it rings. */
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
