/** Faults of the next connections to the WebSocket gateway. */
export type ConnectionFault = 'refuse' | 'unauthorized' | 'hang' | 'error' | 'no-details' | 'forget' | 'early-event'

export interface ConnectionFaultRule {
  kind: ConnectionFault
  /** Only connections of this extension. */
  extensionId?: string
  /** How many connections it affects. Null: all until it is cleared. */
  calls: number | null
}

export class SocketFaults {
  #active: (ConnectionFaultRule & { left: number })[] = []

  add(rule: ConnectionFaultRule): void {
    this.#active.push({ ...rule, left: rule.calls ?? Number.POSITIVE_INFINITY })
  }

  clear(): void {
    this.#active = []
  }

  draw(extensionId: string, isRecovery: boolean): ConnectionFault | null {
    const hit = this.#active.find(
      (one) => (one.extensionId ?? extensionId) === extensionId && (isRecovery || one.kind !== 'forget'),
    )
    if (hit === undefined) return null
    hit.left--
    this.#active = this.#active.filter(({ left }) => left > 0)
    return hit.kind
  }
}
