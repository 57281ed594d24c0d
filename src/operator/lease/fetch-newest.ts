import { type Log, silentLog } from '../../core/log.ts'
import { fetchBackup } from '../backup/fetch-backup.ts'
import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { listEpochs, settingsOfEpoch } from './epochs.ts'
import type { ObjectStore } from './object-store.ts'

/** A copy from the storage, as a file. */
export interface FetchedCopy {
  file: string
  epoch: number
  /** Its address, for messages. */
  where: string
}

export interface FetchOptions {
  log?: Log
  /** ISO 8601: the state of that moment. Default: the newest state. */
  at?: string | null
}

/**
 * Searches the epochs, newest first: one that has just begun has no copy yet, or none of that moment. A copy that cannot be read ends the
 * search, because an older one lacks what was acknowledged since. Null if there is none. Errors: `StartError`, `StoreError`.
 */
export async function fetchNewest(
  settings: BackupSettings,
  store: ObjectStore,
  file: string,
  { log = silentLog, at = null }: FetchOptions,
): Promise<FetchedCopy | null> {
  const epochs = await listEpochs(store)
  const before = (await hasOlderBackup(store)) ? [0] : []
  for (const epoch of [...epochs, ...before]) {
    const ofEpoch = settingsOfEpoch(settings, epoch)
    log.info({ epoch }, 'restoring')
    if (await fetchBackup(ofEpoch, file, at)) return { file, epoch, where: describeReplica(ofEpoch) }
  }
  return null
}

/** What the gateways that share a lease keep beside the backup. */
const OF_THE_LEASE = /^(e[1-9]\d*|standby)$/

/** Whether a gateway without standbys has copied to the same place. */
const hasOlderBackup = async (store: ObjectStore): Promise<boolean> =>
  (await store.folders('')).some((folder) => !OF_THE_LEASE.test(folder))
