import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { dataFolder } from './data-folder.ts'
import type { Database } from './database.ts'

/** With less free space the next commits will fail. Without this check, an idle gateway would not notice a full disk. */
const FULL_BYTES = 1 << 20

/** With less free space, somebody must free some before the disk is full. */
export const LOW_DISK_BYTES = 100 << 20

interface Stored {
  database: Pick<Database, 'storage'>
  config: { database: { path: string | null } }
}

/** Probes the storage if it failed. Returns whether it fails or is about to fail. */
export async function probeStorage({
  database,
  config: {
    database: { path },
  },
}: Stored): Promise<boolean> {
  return (path !== null && freeBytes(path) < FULL_BYTES) || ((await database.storage?.probeIfFailing()) ?? false)
}

/** Free space of the database's disk; 0 if that cannot be read. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(nearestFolder(dataFolder(path)))
    return bavail * bsize
  } catch {
    return 0
  }
}

/** The first start creates the folder, so before that its disk is that of the nearest one there is. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}
