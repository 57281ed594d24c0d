import type { Settings } from './settings.ts'

/** When a commit counts as made: on the disk of this machine, or only once the backup's storage has it too. */
export interface Durability {
  mode: 'disk' | 'replica'
  /** How long the storage may take before requests are answered with 503. */
  replicaTimeoutMs: number
}

/** A request waits for at most two commits, and is cut after 30 s without an answer. */
const MAX_REPLICA_TIMEOUT_MS = 14_000

/** Reads DURABILITY and REPLICA_TIMEOUT. */
export function readDurability(settings: Settings): Durability {
  const mode = settings.oneOf('DURABILITY', ['disk', 'replica'], 'disk')
  const replicaTimeoutMs = settings.durationMs('REPLICA_TIMEOUT', '10s', 100)
  if (replicaTimeoutMs > MAX_REPLICA_TIMEOUT_MS)
    settings.problem('REPLICA_TIMEOUT', 'is longer than 14s', 'requests would be cut before they are answered')
  if (mode === 'replica' && settings.text('LITESTREAM_REPLICA_URL') === null)
    settings.problem(
      'DURABILITY',
      'is "replica", but LITESTREAM_REPLICA_URL is not set',
      'name the storage of the backup, for example s3://BUCKET/PATH (docs/beyond-one-machine.md)',
    )
  return { mode, replicaTimeoutMs }
}
