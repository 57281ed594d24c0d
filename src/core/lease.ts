import { LEASE_MS } from './limits.ts'

/** The right to be active, which one of several gateways has at a time. Source of the rules: docs/beyond-one-machine.md. */
export interface Lease {
  /** Rises with each holder. */
  readonly epoch: number
  /** The machine and the port of the holder. */
  readonly holder: string
  /**
   * Call directly before anything that the outside world notices: a provider call, a webhook POST. Undefined if the lease was renewed recently.
   * Otherwise resolves with the next renewal, and never if the lease is lost: then the process ends.
   */
  granted(): Promise<void> | undefined
  /** Milliseconds since the start of the last renewal. */
  ageMs(): number
  /** What the object storage says about the other gateways. Null until it has been read. */
  readonly standbys: Standbys | null
  /** Tests whether the storage can hold a lease. Returns the result. Errors: why it cannot. */
  testStorage(): Promise<string>
  /** How far this machine's clock is from the storage's, such as `70 s behind the storage's`; null if they agree. */
  clockDifference(): string | null
  /** Stops this gateway so that a standby takes over at once. */
  give(): void
}

/** Whether a gateway is certainly the only active one: it shares no lease, or renewed its lease recently. */
export const isFresh = (lease: Pick<Lease, 'ageMs'> | null): boolean => lease === null || lease.ageMs() < LEASE_MS

/** The gateways that have recently announced that they would take over. */
export interface Standbys {
  names: readonly string[]
  /** How long none has been seen, by the storage's clock; 0 while there is one. */
  missingMs: number
  /** How a standby's configuration differs from this gateway's; null if it does not. */
  difference: string | null
}
