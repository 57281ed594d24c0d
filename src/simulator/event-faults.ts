/** Faults between the platform and the gateway's webhook or socket. */
export interface EventFault {
  kind: 'drop' | 'delay' | 'duplicate'
  /** For `delay`: the duration on the simulator's clock. */
  ms?: number
  /** For `duplicate`: how many deliveries in total. Default 2. */
  copies?: number
  /** Only events of this subscription. */
  subscriptionId?: string
  /** Only events of this extension's subscriptions. */
  extensionId?: string
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

  draw({ id, extensionId }: { id: string; extensionId: number }): EventFault | null {
    const owner = String(extensionId)
    const hit = this.#active.find(
      ({ fault }) => (fault.subscriptionId ?? id) === id && (fault.extensionId ?? owner) === owner,
    )
    if (hit === undefined) return null
    hit.left--
    this.#active = this.#active.filter((one) => one.left > 0)
    return hit.fault
  }
}
