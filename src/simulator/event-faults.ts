/** Faults between the platform and the gateway's webhook. */
export interface EventFault {
  kind: 'drop' | 'delay' | 'duplicate'
  /** For `delay`: the duration on the simulator's clock. */
  ms?: number
  /** For `duplicate`: how many deliveries in total. Default 2. */
  copies?: number
  /** Only events of this subscription. */
  subscriptionId?: string
  /** How many events it affects. Null: all until it is cleared. Default 1. */
  calls?: number | null
}

export class EventFaults {
  #active: { fault: EventFault; left: number }[] = []

  add(fault: EventFault): void {
    const calls = fault.calls === undefined ? 1 : fault.calls
    this.#active.push({ fault, left: calls ?? Number.POSITIVE_INFINITY })
  }

  clear(): void {
    this.#active = []
  }

  draw(subscriptionId: string): EventFault | null {
    const hit = this.#active.find(({ fault }) => (fault.subscriptionId ?? subscriptionId) === subscriptionId)
    if (hit === undefined) return null
    hit.left--
    this.#active = this.#active.filter((one) => one.left > 0)
    return hit.fault
  }
}
