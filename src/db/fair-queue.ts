/** Tenants take turns, each with its oldest item, so that many items of one tenant do not delay the others for long. */
export class FairQueue<T> {
  readonly #tenants = new Map<string, T[]>()

  add(tenantId: string, item: T): void {
    const waiting = this.#tenants.get(tenantId)
    if (waiting === undefined) this.#tenants.set(tenantId, [item])
    else waiting.push(item)
  }

  take(): T | undefined {
    const [first] = this.#tenants
    if (first === undefined) return undefined
    const [tenantId, waiting] = first
    const item = waiting.shift()
    // A tenant with more items goes to the end of the queue.
    this.#tenants.delete(tenantId)
    if (waiting.length > 0) this.#tenants.set(tenantId, waiting)
    return item
  }
}
