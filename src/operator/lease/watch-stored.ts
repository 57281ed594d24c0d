import { type Clock, sleep } from '../../core/clock.ts'
import { LEASE_MS } from '../../core/limits.ts'
import type { Database } from '../../db/database.ts'
import type { HeldLease } from './held-lease.ts'

const LOOK_EVERY_MS = 1000

/**
 * Gives up a lease with which this machine can do nothing: Litestream hangs, the disk is full. While nothing else is committed and a standby
 * waits, it commits a row of the chain every 5 s, so that such a fault is found. Runs for as long as the lease is held.
 */
export async function watchStored(
  lease: HeldLease,
  database: Database,
  timeoutMs: number,
  clock: Clock,
): Promise<void> {
  const idle = new IdleCommits(database, clock)
  while (lease.isHeld) {
    await sleep(clock, LOOK_EVERY_MS)
    if (lease.unstoredMs() >= LEASE_MS && (lease.standbys()?.names.length ?? 0) > 0) idle.commit()
    const isFailing = (database.storage?.problem ?? null) !== null || idle.waitsMs() >= timeoutMs
    if (isFailing && lease.unstoredMs() >= timeoutMs)
      lease.suspend(database.storage?.problem ?? 'Litestream does not answer')
  }
}

/** Commits that only show whether they are stored, one at a time. */
class IdleCommits {
  /** Monotonic time; null while none is under way. */
  #since: number | null = null

  constructor(
    readonly database: Database,
    readonly clock: Clock,
  ) {}

  commit(): void {
    if (this.#since !== null) return
    this.#since = this.clock.monotonic()
    void this.database
      .untilStored()
      .catch(() => undefined)
      .finally(() => (this.#since = null))
  }

  waitsMs = (): number => (this.#since === null ? 0 : this.clock.monotonic() - this.#since)
}
