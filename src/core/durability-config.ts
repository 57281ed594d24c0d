import { LEASE_MS } from './limits.ts'
import type { Settings } from './settings.ts'

/** When a commit counts as made: on the disk of this machine, or only when the backup's storage has it too. */
export interface Durability {
  mode: 'disk' | 'replica'
  /** How long the storage may take before requests are answered with 503. */
  replicaTimeoutMs: number
}

/** A request waits for at most two commits, and is cut off after 30 s without an answer. */
const MAX_REPLICA_TIMEOUT_MS = 14_000

/** Reads DURABILITY and REPLICA_TIMEOUT. */
export function readDurability(settings: Settings): Durability {
  const mode = settings.oneOf('DURABILITY', ['disk', 'replica'], 'disk')
  const replicaTimeoutMs = settings.durationMs('REPLICA_TIMEOUT', '10s', 100)
  if (replicaTimeoutMs > MAX_REPLICA_TIMEOUT_MS)
    settings.problem('REPLICA_TIMEOUT', 'is longer than 14s', 'requests would be cut off before they are answered')
  if (mode === 'replica' && settings.text('LITESTREAM_REPLICA_URL') === null)
    settings.problem(
      'DURABILITY',
      'is "replica", but LITESTREAM_REPLICA_URL is not set',
      'name the storage of the backup, for example s3://BUCKET/PATH (docs/beyond-one-machine.md)',
    )
  return { mode, replicaTimeoutMs }
}

/** How long a provider call may take, and after which time a missing message counts as not sent. */
interface CallTimes {
  providerTimeoutMs: number
  reconcileSettleMs: number
}

/** Reads STANDBY: whether several gateways run, of which only the lease holder is active. */
export function readStandby(settings: Settings, { mode }: Durability, times: CallTimes): boolean {
  const standby = settings.flag('STANDBY')
  if (!standby) return false
  const problem = (what: string, fix: string): void =>
    settings.problem('STANDBY', what, `${fix} (docs/beyond-one-machine.md)`)
  if (mode !== 'replica')
    problem(
      'is on, but DURABILITY is not "replica"',
      'set DURABILITY=replica, because a standby has only what the storage has',
    )
  const url = settings.text('LITESTREAM_REPLICA_URL')
  if (url !== null && !url.startsWith('s3://'))
    problem(
      'is on, but LITESTREAM_REPLICA_URL is not an s3:// address',
      'name an S3-compatible storage with conditional writes, because a folder cannot hold a lease',
    )
  if (settings.secret('ENCRYPTION_KEYS') === null)
    settings.missing('ENCRYPTION_KEYS', 'STANDBY is on, and a standby needs the same keys; make one with: sgw secret')
  // An earlier holder's call can reach the provider this late. Before that, no missing message counts as not sent.
  const leastMs = LEASE_MS + times.providerTimeoutMs
  if (times.reconcileSettleMs < leastMs)
    settings.problem(
      'RECONCILE_SETTLE',
      `is shorter than PROVIDER_TIMEOUT and the ${LEASE_MS / 1000} s of a lease together`,
      `give at least ${Math.ceil(leastMs / 1000)}s, or messages could be sent twice after a takeover (docs/beyond-one-machine.md)`,
    )
  return true
}
