import { EXIT, StartError } from '../../core/start-error.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { refusalOfForeignLog } from '../../db/foreign-log.ts'
import { readHistory } from '../../db/history-rows.ts'
import { removeDatabase } from '../backup/database-copy.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { type Copies, type FetchOptions, type LocalFile, fetchCopies } from './copies.ts'
import { listEpochs } from './epochs.ts'
import { LEASE_KEY } from './lease-object.ts'
import { type Newest, forkError, newestOf } from './newest.ts'
import { ObjectStore } from './object-store.ts'

/** What was found: copies, this machine's file if it counts and exists, and which of them is the newest. */
export interface Found extends Copies {
  local: LocalFile | null
  newest: Newest
}

export interface SearchOptions extends FetchOptions {
  /** Default: this machine's file counts. */
  withoutLocal?: boolean
}

/** Whether several gateways share the location, or have shared it. Also false if this cannot be read. */
export async function isShared(settings: BackupSettings): Promise<boolean> {
  if (!settings.replicaUrl.startsWith('s3:')) return false
  const store = new ObjectStore(settings)
  const [lease, epochs] = await Promise.all([store.get(LEASE_KEY), listEpochs(store)]).catch(() => [null, []] as const)
  return lease !== null || epochs.length > 0
}

/**
 * Finds the newest of the location, its epochs and this machine's file: for a start with or without the lease, a standby, and `sgw restore`.
 * Removes copies that `use` has not moved. Errors: `StartError`, 78 if the file cannot be read; `StoreError`.
 */
export async function findNewest<T>(
  settings: BackupSettings,
  options: SearchOptions,
  use: (found: Found) => T,
): Promise<T> {
  const found = await fetchCopies(settings, options)
  try {
    const path = settings.databasePath
    const counts = options.withoutLocal !== true && found.copies.length > 0 && sizeOf(path) > 0
    const local = counts ? await readLocal(path) : null
    return use({ ...found, local, newest: newestOf(found.copies, local) })
  } finally {
    for (const { file } of found.copies) removeDatabase(file)
  }
}

/**
 * Why this machine could not take over: its file and the copies each have changes that the other lacks. Null if that is not so, or is unknown
 * now. Only a file that was last written without the lease can be one of two histories, so nothing is fetched for other files.
 */
export async function findFork(settings: BackupSettings): Promise<string | null> {
  const path = settings.databasePath
  try {
    if (sizeOf(path) === 0 || (await readLocal(path)).history.links.at(-1)?.epoch !== null) return null
    return await findNewest(settings, { scratch: `${path}.restoring-look` }, ({ newest }) =>
      newest.type === 'fork' ? forkError(newest.fork).message : null,
    )
  } catch {
    return null
  }
}

/** Errors: `StartError` 78 if the file cannot be read, so what it has is unknown. */
async function readLocal(path: string): Promise<LocalFile> {
  const foreign = refusalOfForeignLog(path)
  if (foreign !== null) throw new StartError(EXIT.badConfig, foreign)
  try {
    return { file: path, history: await readHistory(path) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      EXIT.badConfig,
      `${path} cannot be compared with the copies in the object storage (${reason}): nothing was changed. To continue with the copy, move ${path} elsewhere (docs/beyond-one-machine.md)`,
    )
  }
}
