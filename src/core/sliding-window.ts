/**
 * An exact sliding-window log: at most `limit` events in any `windowMs`, on a monotonic clock. It keeps one time for each
 * event, oldest first.
 */
export class SlidingWindow {
  readonly #times: number[] = []
  #head = 0

  constructor(
    public limit: number,
    readonly windowMs: number,
  ) {}

  /** How many events the window holds at `now`. */
  count(now: number): number {
    this.#expire(now)
    return this.#times.length - this.#head
  }

  /** Records an event. One at Infinity stays until it is moved or removed. */
  add(at: number): void {
    this.#times.push(at)
  }

  /** Records an event if there is room; returns false and changes nothing otherwise. */
  tryAdd(now: number): boolean {
    if (this.count(now) >= this.limit) return false
    this.add(now)
    return true
  }

  /** Removes an event that was recorded for exactly this time. */
  remove(at: number): void {
    const index = this.#indexOf(at)
    if (index !== null) this.#times.splice(index, 1)
  }

  /** Moves the event of `at` to `now`, which makes it the newest. */
  move(at: number, now: number): void {
    const times = this.#times
    const index = this.#indexOf(at)
    if (index === null) return this.add(now)
    for (let next = index + 1; next < times.length; next++) times[next - 1] = times[next] ?? now
    times[times.length - 1] = now
  }

  /** The event is mostly near the end, where a loop is faster than `lastIndexOf`. */
  #indexOf(at: number): number | null {
    for (let index = this.#times.length - 1; index >= this.#head; index--) if (this.#times[index] === at) return index
    return null
  }

  /** How many events there is room for at `now`. */
  room(now: number): number {
    return Math.max(0, this.limit - this.count(now))
  }

  /** Milliseconds until there is room for one more; 0 when there is. An event at Infinity may leave after a complete window. */
  waitMs(now: number): number {
    const excess = this.count(now) - this.limit
    if (excess < 0) return 0
    const leavesMs = (this.#times[this.#head + excess] ?? now) + this.windowMs - now
    return Math.max(0, Math.min(leavesMs, this.windowMs))
  }

  /** Milliseconds until the oldest event leaves the window; 0 when the window is empty. */
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
