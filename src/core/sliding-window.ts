/**
 * An exact sliding-window log: at most `limit` events in any `windowMs`, on a monotonic clock.
 * A ring of timestamps, allocated as it fills.
 */
export class SlidingWindow {
  readonly #times: number[] = []
  #head = 0

  constructor(
    readonly limit: number,
    readonly windowMs: number,
  ) {}

  /** How many events the window holds at `now`. */
  count(now: number): number {
    this.#expire(now)
    return this.#times.length - this.#head
  }

  /** Notes an event. */
  add(at: number): void {
    this.#times.push(at)
  }

  /** Notes an event if there is room; otherwise nothing changes. */
  tryAdd(now: number): boolean {
    if (this.count(now) >= this.limit) return false
    this.add(now)
    return true
  }

  /** Takes back an event noted at exactly that time. */
  remove(at: number): void {
    const index = this.#times.lastIndexOf(at)
    if (index >= this.#head) this.#times.splice(index, 1)
  }

  /** How many events there is room for at `now`. */
  room(now: number): number {
    return Math.max(0, this.limit - this.count(now))
  }

  /** Milliseconds until there is room for one more; 0 when there is. */
  waitMs(now: number): number {
    const excess = this.count(now) - this.limit
    if (excess < 0) return 0
    return Math.max(0, (this.#times[this.#head + excess] ?? now) + this.windowMs - now)
  }

  /** Milliseconds until the oldest event leaves; 0 when empty. */
  resetMs(now: number): number {
    if (this.count(now) === 0) return 0
    return Math.max(0, (this.#times[this.#head] ?? now) + this.windowMs - now)
  }

  #expire(now: number): void {
    while (this.#head < this.#times.length && (this.#times[this.#head] ?? 0) + this.windowMs <= now) this.#head++
    if (this.#head > 64 && this.#head * 2 > this.#times.length) {
      this.#times.splice(0, this.#head)
      this.#head = 0
    }
  }
}
