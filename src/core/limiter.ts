export interface LimiterBounds {
  /** Slots of all tenants together. */
  total: number
  perTenant: number
  /** A tenant that holds fewer slots than this finds another one even if all are taken; 0 if absent. */
  reservedPerTenant?: number
}

/** Something else that is limited, such as a host. All holders and waiters of a name must give the same `max`. */
export interface LimitedKey {
  name: string
  max: number
}

/** A taken slot. The holder must call `release`; further calls have no effect. */
export interface Slot {
  /** Also takes a slot of one more key. Returns false, and takes nothing, if the key has none left. */
  hold(key: LimitedKey): boolean
  release(): void
}

interface Waiter {
  tenantId: string
  keys: readonly LimitedKey[]
  granted: (slot: Slot) => void
  /** The queue it waits in: its tenant's, or that of a key without free slots. */
  queue: Set<Waiter>
}

/**
 * Limits what runs at once: in total, of each tenant and of each key. A free slot goes to the waiting tenant that holds the fewest, so that
 * one tenant's slow work leaves slots for the others; equals take turns. A tenant's waiters are served in order of arrival, except those whose
 * keys have no free slots.
 */
export class Limiter {
  #taken = 0
  readonly #ofTenant = new Map<string, number>()
  readonly #ofKey = new Map<string, number>()
  /** Waiters by tenant; the tenant served most recently is last. */
  readonly #ready = new Map<string, Set<Waiter>>()
  /** Waiters by the key without free slots. */
  readonly #blocked = new Map<string, Set<Waiter>>()

  constructor(readonly bounds: LimiterBounds) {}

  /**
   * Calls `granted` once with a slot of the tenant and of all keys: before it returns if there is one and no other waiter
   * comes first. The returned function leaves the queue; it has no effect afterward.
   */
  request(tenantId: string, keys: readonly LimitedKey[], granted: (slot: Slot) => void): () => void {
    const waiter: Waiter = { tenantId, keys, granted, queue: new Set() }
    this.#enqueue(waiter)
    this.#grant()
    return () => {
      waiter.queue.delete(waiter)
      this.#forgetIfEmpty(tenantId)
    }
  }

  /** Returns a slot if there is one now and no other waiter comes first, else null. */
  acquire(tenantId: string, keys: readonly LimitedKey[] = []): Slot | null {
    let acquired: Slot | null = null
    const leaveQueue = this.request(tenantId, keys, (slot) => (acquired = slot))
    leaveQueue()
    return acquired
  }

  #enqueue(waiter: Waiter): void {
    waiter.queue = addTo(this.#ready, waiter.tenantId, waiter)
  }

  /** Grants slots while there are any. A waiter whose key has no free slots waits for that key. */
  #grant(): void {
    for (let queue = this.#nextQueue(); queue !== null; queue = this.#nextQueue()) {
      const [waiter] = queue
      if (waiter === undefined) return
      queue.delete(waiter)
      const full = waiter.keys.find((key) => !this.#hasRoom(key))
      if (full === undefined) {
        this.#moveToEnd(waiter.tenantId)
        waiter.granted(this.#take(waiter))
      } else {
        waiter.queue = addTo(this.#blocked, full.name, waiter)
        this.#forgetIfEmpty(waiter.tenantId)
      }
    }
  }

  /** The waiters of the tenant that gets the next slot; null if no tenant may have one. */
  #nextQueue(): Set<Waiter> | null {
    const { total, perTenant, reservedPerTenant = 0 } = this.bounds
    let fewest = this.#taken < total ? perTenant : Math.min(reservedPerTenant, perTenant)
    let next: Set<Waiter> | null = null
    for (const [tenantId, queue] of this.#ready) {
      const held = this.#ofTenant.get(tenantId) ?? 0
      if (held >= fewest) continue
      fewest = held
      next = queue
    }
    return next
  }

  #moveToEnd(tenantId: string): void {
    const queue = this.#ready.get(tenantId)
    this.#ready.delete(tenantId)
    if (queue !== undefined && queue.size > 0) this.#ready.set(tenantId, queue)
  }

  #forgetIfEmpty(tenantId: string): void {
    if (this.#ready.get(tenantId)?.size === 0) this.#ready.delete(tenantId)
  }

  #hasRoom({ name, max }: LimitedKey): boolean {
    return (this.#ofKey.get(name) ?? 0) < max
  }

  #take({ tenantId, keys }: Waiter): Slot {
    const held = new Set(keys.map(({ name }) => name))
    this.#count(tenantId, held, 1)
    let isReleased = false
    return {
      hold: (key) => {
        if (held.has(key.name)) return true
        if (!this.#hasRoom(key)) return false
        held.add(key.name)
        change(this.#ofKey, key.name, 1)
        return true
      },
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#count(tenantId, held, -1)
        for (const name of held) this.#unblock(name)
        this.#grant()
      },
    }
  }

  #count(tenantId: string, keys: Iterable<string>, by: 1 | -1): void {
    this.#taken += by
    change(this.#ofTenant, tenantId, by)
    for (const name of keys) change(this.#ofKey, name, by)
  }

  /** All of them, because the first may still wait for another of its keys. */
  #unblock(name: string): void {
    const waiters = this.#blocked.get(name)
    this.#blocked.delete(name)
    for (const waiter of waiters ?? []) this.#enqueue(waiter)
  }
}

function addTo(queues: Map<string, Set<Waiter>>, name: string, waiter: Waiter): Set<Waiter> {
  const queue = queues.get(name) ?? new Set()
  queues.set(name, queue)
  return queue.add(waiter)
}

function change(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
