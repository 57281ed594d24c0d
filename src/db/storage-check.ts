import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from './database.ts'

/** With less free space the next commits will fail. Without this check, an idle gateway would not notice a full disk. */
const MIN_FREE_BYTES = 1 << 20

interface Stored {
  database: Pick<Database, 'storage'>
  config: { database: { path: string | null } }
}

/** Probes the storage if it failed. Returns whether it fails or is about to fail. */
export async function probeStorage({ database, config }: Stored): Promise<boolean> {
  return isFull(config.database.path) || ((await database.storage?.probeIfFailing()) ?? false)
}

/** Why nothing can be stored, and what to do; null if all is well. */
export async function storageProblem(stored: Stored): Promise<string | null> {
  if (!(await probeStorage(stored))) return null
  return stored.database.storage?.problem ?? 'its disk is full, so messages are refused with 503: make room'
}

function isFull(path: string | null): boolean {
  if (path === null) return false
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize < MIN_FREE_BYTES
  } catch {
    return true
  }
}
