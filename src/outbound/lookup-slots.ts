/** How many lookups may run at once. */
export interface LookupBounds {
  total: number
  perTenant: number
}

/** A slot that was taken; the holder must call `release` once. */
export interface LookupSlot {
  release(): void
}

/** Slots for lookups. A free slot goes to the waiting tenant that holds the fewest. */
export class LookupSlots {
  readonly #bounds: LookupBounds
  readonly #held = new Map<string, number>()
  readonly #waiting = new Map<string, Set<(slot: LookupSlot) => void>>()
  #total = 0

  constructor(bounds: LookupBounds) {
    this.#bounds = bounds
  }

  /** Takes a slot; returns null if the tenant or the gateway has none left. */
  enter(tenantId: string): LookupSlot | null {
    return this.#hasRoom(tenantId) ? this.#take(tenantId) : null
  }

  /** Calls `enter` with a slot as soon as one is free. The returned function leaves the queue. */
  wait(tenantId: string, enter: (slot: LookupSlot) => void): () => void {
    const queue = this.#waiting.get(tenantId) ?? new Set()
    this.#waiting.set(tenantId, queue.add(enter))
    return () => this.#stopWaiting(tenantId, queue, enter)
  }

  #hasRoom(tenantId: string): boolean {
    return this.#total < this.#bounds.total && this.#heldBy(tenantId) < this.#bounds.perTenant
  }

  #heldBy(tenantId: string): number {
    return this.#held.get(tenantId) ?? 0
  }

  #take(tenantId: string): LookupSlot {
    this.#total++
    this.#held.set(tenantId, this.#heldBy(tenantId) + 1)
    return { release: () => this.#release(tenantId) }
  }

  #release(tenantId: string): void {
    this.#total--
    const held = this.#heldBy(tenantId) - 1
    if (held > 0) this.#held.set(tenantId, held)
    else this.#held.delete(tenantId)
    this.#admitNext()
  }

  #admitNext(): void {
    const candidates = [...this.#waiting.keys()].filter((tenantId) => this.#hasRoom(tenantId))
    const [next] = candidates.toSorted((a, b) => this.#heldBy(a) - this.#heldBy(b))
    if (next === undefined) return
    const queue = this.#waiting.get(next)
    const [enter] = queue ?? []
    if (queue === undefined || enter === undefined) return
    this.#stopWaiting(next, queue, enter)
    enter(this.#take(next))
  }

  #stopWaiting(tenantId: string, queue: Set<(slot: LookupSlot) => void>, enter: (slot: LookupSlot) => void): void {
    queue.delete(enter)
    if (queue.size === 0 && this.#waiting.get(tenantId) === queue) this.#waiting.delete(tenantId)
  }
}
