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
    const place = this.#placeOf(at)
    if (place !== null) this.#times.splice(place, 1)
  }

  /** Notes an event later than it was: as one of `now`, the newest of all. */
  move(at: number, now: number): void {
    const times = this.#times
    const place = this.#placeOf(at)
    if (place === null) return this.add(now)
    for (let next = place + 1; next < times.length; next++) times[next - 1] = times[next] ?? now
    times[times.length - 1] = now
  }

  /** Near the end, mostly: a loop is faster than `lastIndexOf`. */
  #placeOf(at: number): number | null {
    for (let place = this.#times.length - 1; place >= this.#head; place--) if (this.#times[place] === at) return place
    return null
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
