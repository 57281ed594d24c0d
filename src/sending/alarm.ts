import type { Clock } from '../core/clock.ts'

/** Calls `ring` once, after the most recently set delay. */
export class Alarm {
  #cancel: () => void = () => undefined

  constructor(
    readonly clock: Clock,
    readonly ring: () => void,
  ) {}

  set(delayMs: number): void {
    this.#cancel()
    this.#cancel = this.clock.after(Math.ceil(delayMs), this.ring)
  }

  stop(): void {
    this.#cancel()
  }
}
