import { sleep } from '../../core/clock.ts'
import { LEASE_MS } from '../../core/limits.ts'
import type { Database } from '../../db/database.ts'
import type { HeldLease } from './held-lease.ts'

const LOOK_EVERY_MS = 1000

/**
 * Gives up the lease if this machine cannot use it, because Litestream hangs or the disk is full. While a standby waits and nothing else is
 * committed, commits a row of the chain every 5 s to detect such a fault. Runs for as long as the lease is held.
 */
export async function watchStored(lease: HeldLease, database: Database): Promise<void> {
  const { clock, replicaTimeoutMs } = lease.options
  // Monotonic time at which a test commit began; null while none is in progress.
  let idleSince: number | null = null
  const commitIdle = (): void => {
    if (idleSince !== null) return
    idleSince = clock.monotonic()
    const over = (): void => void (idleSince = null)
    database.untilStored().then(over, over)
  }
  while (lease.isHeld) {
    await sleep(clock, LOOK_EVERY_MS)
    if (lease.unstoredMs() >= LEASE_MS && (lease.standbys?.names.length ?? 0) > 0) commitIdle()
    const problem = database.storage?.problem ?? null
    const isIdleLate = idleSince !== null && clock.monotonic() - idleSince >= replicaTimeoutMs
    if ((problem !== null || isIdleLate) && lease.unstoredMs() >= replicaTimeoutMs)
      lease.suspend(problem ?? 'Litestream does not answer')
  }
}
