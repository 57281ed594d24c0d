import type { BackupSettings } from '../backup/settings.ts'
import { fetchCopies, removeCopies } from './copies.ts'
import { forkError, newestOf } from './newest.ts'
import type { ObjectStore } from './object-store.ts'
import { moveDatabase } from './take-database.ts'

/** Fetches the newest copy, or that of the moment `at` (ISO 8601), to `target`. False if there is none. Errors: `StartError`, `StoreError`. */
export async function fetchNewest(
  settings: BackupSettings,
  store: ObjectStore,
  target: string,
  at: string | null,
): Promise<boolean> {
  const { copies } = await fetchCopies(settings, store, `${target}-epoch`, { at })
  try {
    const newest = newestOf(copies, null)
    if (newest.type === 'fork') throw forkError(newest.fork)
    if (newest.type === 'copy') moveDatabase(newest.copy.file, target)
    return newest.type === 'copy'
  } finally {
    removeCopies(copies)
  }
}
