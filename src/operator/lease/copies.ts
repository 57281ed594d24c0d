import { type Log, silentLog } from '../../core/log.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { History } from '../../db/history.ts'
import { readFact, readHistory } from '../../db/history-rows.ts'
import { fetchBackup } from '../backup/fetch-backup.ts'
import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { listEpochs, settingsOfEpoch, untilListed } from './epochs.ts'
import { LEASE_KEY, LeaseObject } from './lease-object.ts'
import { newestTransaction } from './newest-transaction.ts'
import { ObjectStore } from './object-store.ts'
import type { WarmCopy } from './warm-copy.ts'

/** A database that no gateway has open: this machine's, or a copy. */
export interface LocalFile {
  /** Its path. */
  file: string
  history: History
}

/** A copy from the storage, as a file. */
export interface FetchedCopy extends LocalFile {
  /** 0 for the copy at the location itself, of a gateway without a lease. */
  epoch: number
  /** Its address, for messages. */
  where: string
  /** How many messages it has, if all of it was checked. */
  checked: number | null
}

export interface FetchOptions {
  /** Prefix of the files to which copies are fetched. */
  scratch: string
  /** Default: one that makes a read three times. */
  store?: ObjectStore
  log?: Log
  /** ISO 8601: the state of that moment. Default: the newest state. */
  at?: string | null
  /** A standby's warm copy. */
  warm?: WarmCopy | null
}

/** The copies that may be the newest, and what the location itself has. */
export interface Copies {
  copies: readonly FetchedCopy[]
  /** A text that differs after each change at the location itself; empty without a copy there. */
  root: string
}

/**
 * Fetches the copy of the newest epoch that has one, and that of the location itself, unless the epoch began with it. Errors: `StartError`,
 * `StoreError`.
 */
export async function fetchCopies(settings: BackupSettings, options: FetchOptions): Promise<Copies> {
  const { store = new ObjectStore(settings) } = options
  const lease = (options.at ?? null) === null ? await new LeaseObject(store).read() : null
  const copied = lease?.content.copied ?? 0
  const newest = await untilListed(settings, () =>
    newestEpoch(store, copied, (epoch) => fetchCopy(settings, store, epoch, options)),
  )
  const root = await stateOfRoot(store)
  const isKnown = newest !== null && readFact(newest.file, ROOT_FACT) === root
  const ofRoot = { ...options, scratch: `${options.scratch}-root` }
  const other = root === '' || isKnown ? null : await fetchCopy(settings, store, 0, ofRoot)
  return { copies: [newest, other].filter((copy) => copy !== null), root }
}

/**
 * An epoch that has just begun has no copy yet, or none of that moment. A copy that cannot be read ends the search, because an older one lacks
 * acknowledged changes. A copy that is older than the lease says also ends it.
 */
async function newestEpoch(
  store: ObjectStore,
  copied: number,
  fetchOf: (epoch: number) => Promise<FetchedCopy | null>,
): Promise<{ found: FetchedCopy | null } | { missing: string }> {
  for (const epoch of await listEpochs(store)) {
    const copy = epoch < copied ? null : await fetchOf(epoch)
    if (copy !== null) return { found: copy }
  }
  if (copied === 0) return { found: null }
  return {
    missing: `The lease says that epoch ${copied} has a copy, but the object storage does not list it: check whether somebody removed e${copied} beside ${LEASE_KEY}. To continue with what is left, stop all gateways, and delete ${LEASE_KEY} (docs/beyond-one-machine.md)`,
  }
}

/** Null if the storage has no copy. */
async function fetchCopy(
  settings: BackupSettings,
  store: ObjectStore,
  epoch: number,
  { scratch: file, log = silentLog, at = null, warm = null }: FetchOptions,
): Promise<FetchedCopy | null> {
  const ofEpoch = settingsOfEpoch(settings, epoch)
  const newest = (): Promise<string | null> => newestTransaction(settings, store, epoch)
  log.info({ epoch }, 'restoring')
  const checked = (await warm?.take(epoch, file, newest)) ?? null
  if (checked === null) {
    const transaction = at === null ? await newest() : null
    if (!(await fetchBackup(ofEpoch, file, { at, transaction }))) return null
  }
  return { file, epoch, where: describeReplica(ofEpoch), history: await readHistory(file), checked }
}

/** The name of the fact that stores the state of the location itself with which a database was compared. */
export const ROOT_FACT = 'root_copy'

/** The objects that gateways with a shared lease keep beside the backup. */
const OF_THE_LEASE = /^(e[1-9]\d*|standby)$/

async function stateOfRoot(store: ObjectStore): Promise<string> {
  const folders = (await store.folders('')).filter((folder) => !OF_THE_LEASE.test(folder))
  const objects = (await Promise.all(folders.map((folder) => store.list(`${folder}/`)))).flat()
  if (objects.length === 0) return ''
  return sha256Hex(objects.map(({ key, storedAt }) => `${key} ${storedAt}\n`).join(''))
}
