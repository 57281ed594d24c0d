/** Who waits takes turns: each tenant's oldest one, tenant after tenant, so that a flood of one holds up nobody else for long. */
export class FairQueue<T> {
  private readonly tenants = new Map<string, T[]>()

  add(tenantId: string, item: T): void {
    const waiting = this.tenants.get(tenantId)
    if (waiting === undefined) this.tenants.set(tenantId, [item])
    else waiting.push(item)
  }

  take(): T | undefined {
    const [first] = this.tenants
    if (first === undefined) return undefined
    const [tenantId, waiting] = first
    const item = waiting.shift()
    // To the end of the line, if more of its own wait.
    this.tenants.delete(tenantId)
    if (waiting.length > 0) this.tenants.set(tenantId, waiting)
    return item
  }
}
