import { type Log, silentLog } from '../../core/log.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { History } from '../../db/history.ts'
import { readFact, readHistory } from '../../db/history-rows.ts'
import { removeDatabase } from '../backup/database-copy.ts'
import { fetchBackup } from '../backup/fetch-backup.ts'
import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { listEpochs, settingsOfEpoch } from './epochs.ts'
import type { ObjectStore } from './object-store.ts'

/** A copy from the storage, as a file. */
export interface FetchedCopy {
  file: string
  /** 0 for the copy at the location itself, of a gateway without a lease. */
  epoch: number
  /** Its address, for messages. */
  where: string
  history: History
}

export interface FetchOptions {
  log?: Log
  /** ISO 8601: the state of that moment. Default: the newest state. */
  at?: string | null
}

/** The copies that may be the newest one, and what the location itself has. */
export interface Copies {
  copies: readonly FetchedCopy[]
  /** Another text after each change at the location itself; empty without a copy there. */
  root: string
}

/**
 * Fetches the copy of the newest epoch that has one, and that of the location itself unless the former has begun with it. An epoch that has
 * just begun has no copy yet, or none of that moment. A copy that cannot be read ends the search, because an older one lacks what was
 * acknowledged since. Errors: `StartError`, `StoreError`.
 */
export async function fetchCopies(
  settings: BackupSettings,
  store: ObjectStore,
  file: string,
  { log = silentLog, at = null }: FetchOptions,
): Promise<Copies> {
  const copies: FetchedCopy[] = []
  const fetchOf = async (epoch: number, target: string): Promise<boolean> => {
    const ofEpoch = settingsOfEpoch(settings, epoch)
    log.info({ epoch }, 'restoring')
    if (!(await fetchBackup(ofEpoch, target, at))) return false
    copies.push({ file: target, epoch, where: describeReplica(ofEpoch), history: await readHistory(target) })
    return true
  }
  for (const epoch of await listEpochs(store)) if (await fetchOf(epoch, file)) break
  const root = await stateOfRoot(store)
  const [newest] = copies
  const isKnown = newest !== undefined && readFact(newest.file, ROOT_FACT) === root
  if (root !== '' && !isKnown) await fetchOf(0, `${file}-root`)
  return { copies, root }
}

export const removeCopies = (copies: readonly FetchedCopy[]): void => copies.forEach(({ file }) => removeDatabase(file))

/** The fact that has the state of the location itself which a database was compared with. */
export const ROOT_FACT = 'root_copy'

/** What the gateways that share a lease keep beside the backup. */
const OF_THE_LEASE = /^(e[1-9]\d*|standby)$/

async function stateOfRoot(store: ObjectStore): Promise<string> {
  const folders = (await store.folders('')).filter((folder) => !OF_THE_LEASE.test(folder))
  const objects = (await Promise.all(folders.map((folder) => store.list(`${folder}/`)))).flat()
  if (objects.length === 0) return ''
  return sha256Hex(objects.map(({ key, storedAt }) => `${key} ${storedAt}\n`).join(''))
}
