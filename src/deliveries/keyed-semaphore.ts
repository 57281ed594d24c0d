/** A semaphore for each key, all with the same number of slots. Waiters are called in the order in which they came. */
export class KeyedSemaphore {
  readonly #taken = new Map<string, number>()
  readonly #waiters = new Map<string, Map<string, () => void>>()

  constructor(readonly max: number) {}

  available(key: string): number {
    return this.max - (this.#taken.get(key) ?? 0)
  }

  /** Takes a slot; `waiter` no longer waits for one. */
  acquire(key: string, waiter: string): void {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
    this.#waiters.get(key)?.delete(waiter)
  }

  /** Calls `freed` once, when a slot is free for `waiter`. A waiter that is in the queue already keeps its position. */
  wait(key: string, waiter: string, freed: () => void): void {
    const queue = this.#waiters.get(key) ?? new Map<string, () => void>()
    this.#waiters.set(key, queue)
    if (!queue.has(waiter)) queue.set(waiter, freed)
  }

  /** Gives a slot back, and calls as many waiters as there are free slots. */
  release(key: string): void {
    const taken = this.#taken.get(key) ?? 1
    if (taken === 1) this.#taken.delete(key)
    else this.#taken.set(key, taken - 1)
    const queue = this.#waiters.get(key)
    if (queue === undefined) return
    let available = this.available(key)
    for (const [waiter, freed] of queue) {
      if (available-- <= 0) break
      queue.delete(waiter)
      freed()
    }
    if (queue.size === 0) this.#waiters.delete(key)
  }
}
