import { NumberQueue } from './number-queue.ts'

/** The queues in memory. An empty queue is removed. */
export class NumberQueues {
  readonly #byTenant = new Map<string, Map<string, NumberQueue>>()
  /** The queues of a number, of all tenants. They share its rate window and its conversations. */
  readonly #byNumber = new Map<string, Set<NumberQueue>>()

  /**
   * Returns the queue of a tenant's number, and creates it if needed. The start creates all queues with jobs, so a queue created later has none.
   */
  getOrCreate(tenantId: string, number: string, hasMore = false): NumberQueue {
    const known = this.known(tenantId, number)
    if (known !== null) return known
    const queue = new NumberQueue(tenantId, number, hasMore)
    const queues = this.#byTenant.get(tenantId) ?? new Map<string, NumberQueue>()
    this.#byTenant.set(tenantId, queues.set(number, queue))
    const others = this.#byNumber.get(number) ?? new Set()
    this.#byNumber.set(number, others.add(queue))
    return queue
  }

  /** The queue if it is in memory. */
  known(tenantId: string, number: string): NumberQueue | null {
    return this.#byTenant.get(tenantId)?.get(number) ?? null
  }

  ofTenant(tenantId: string): Iterable<NumberQueue> {
    return this.#byTenant.get(tenantId)?.values() ?? []
  }

  ofNumber(number: string): Iterable<NumberQueue> {
    return this.#byNumber.get(number) ?? []
  }

  *all(): Generator<NumberQueue> {
    for (const queues of this.#byTenant.values()) yield* queues.values()
  }

  forgetIfEmpty(queue: NumberQueue): void {
    if (!queue.isEmpty) return
    const queues = this.#byTenant.get(queue.tenantId)
    // It may have been forgotten and recreated in the meantime.
    if (queues?.get(queue.number) !== queue) return
    queues.delete(queue.number)
    if (queues.size === 0) this.#byTenant.delete(queue.tenantId)
    const others = this.#byNumber.get(queue.number)
    others?.delete(queue)
    if (others?.size === 0) this.#byNumber.delete(queue.number)
  }
}
