import { LEASE_MS } from './limits.ts'

/** The right to work, which one of several gateways has at a time. Source of the rules: docs/beyond-one-machine.md. */
export interface Lease {
  /** Each holder has a higher one. */
  readonly epoch: number
  /** The machine and the port of the holder. */
  readonly holder: string
  /**
   * Call directly before anything that others notice: a call of the provider, a webhook POST. Undefined if the lease was renewed lately.
   * Otherwise resolves with the next renewal, and never if the lease is lost: then the process ends.
   */
  granted(): Promise<void> | undefined
  /** Milliseconds since the start of the last renewal. */
  ageMs(): number
  /** What the storage says about the other gateways. Null until it was read. */
  readonly standbys: Standbys | null
  /** Tries whether the storage can hold a lease. Returns what was found. Errors: why it cannot. */
  testStorage(): Promise<string>
  /** How far this machine's clock is from the storage's, as `70 s behind the storage's`; null if they agree. */
  clockDifference(): string | null
  /** Stops this gateway so that a standby takes over at once. */
  give(): void
}

/** Whether a gateway is surely the only one at work: it holds no lease, or one that was renewed lately. */
export const isFresh = (lease: Pick<Lease, 'ageMs'> | null): boolean => lease === null || lease.ageMs() < LEASE_MS

/** The gateways that have said lately that they would take over. */
export interface Standbys {
  names: readonly string[]
  /** For how long none has been seen, by the clock of the storage; 0 while there is one. */
  missingMs: number
  /** What of a standby's configuration differs from this gateway's; null if nothing does. */
  difference: string | null
}
