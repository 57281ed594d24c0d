import { type Log, silentLog } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { History } from '../../db/history.ts'
import { readFact, readHistory } from '../../db/history-rows.ts'
import { fetchBackup } from '../backup/fetch-backup.ts'
import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { LEASE_KEY } from '../backup/storage.ts'
import { listEpochs, settingsOfEpoch } from './epochs.ts'
import { LeaseObject } from './lease-object.ts'
import { newestTransaction } from './newest-transaction.ts'
import type { ObjectStore } from './object-store.ts'
import type { WarmCopy } from './warm-copy.ts'

/** A copy from the storage, as a file. */
export interface FetchedCopy {
  file: string
  /** 0 for the copy at the location itself, of a gateway without a lease. */
  epoch: number
  /** Its address, for messages. */
  where: string
  history: History
  /** How many messages it has, if all of it was checked. */
  checked: number | null
}

export interface FetchOptions {
  log?: Log
  /** ISO 8601: the state of that moment. Default: the newest state. */
  at?: string | null
  /** What a standby has of the copies already. */
  warm?: WarmCopy | null
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
  { log = silentLog, at = null, warm = null }: FetchOptions,
): Promise<Copies> {
  const copies: FetchedCopy[] = []
  const fetchOf = async (epoch: number, target: string): Promise<boolean> => {
    const ofEpoch = settingsOfEpoch(settings, epoch)
    log.info({ epoch }, 'restoring')
    const newest = (): Promise<string | null> => newestTransaction(settings, store, epoch)
    const checked = (await warm?.take(epoch, target, newest)) ?? null
    if (checked === null) {
      const transaction = at === null ? await newest() : null
      if (!(await fetchBackup(ofEpoch, target, { at, transaction }))) return false
    }
    copies.push({ file: target, epoch, where: describeReplica(ofEpoch), history: await readHistory(target), checked })
    return true
  }
  const copied = at === null ? ((await new LeaseObject(store).read())?.content.copied ?? 0) : 0
  const newestEpoch = async (): Promise<boolean> => {
    for (const epoch of await listEpochs(store)) {
      if (epoch < copied) return false
      if (await fetchOf(epoch, file)) return true
    }
    return copied === 0
  }
  await untilListed(newestEpoch, settings.timeoutMs, copied)
  const root = await stateOfRoot(store)
  const [newest] = copies
  const isKnown = newest !== undefined && readFact(newest.file, ROOT_FACT) === root
  if (root !== '' && !isKnown) await fetchOf(0, `${file}-root`)
  return { copies, root }
}

const LIST_AGAIN_MS = 500

/** A list may lag. An older copy lacks what was acknowledged since. */
async function untilListed(look: () => Promise<boolean>, timeoutMs: number, epoch: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await look())) {
    if (performance.now() >= deadline)
      throw new StartError(
        EXIT.unavailable,
        `The lease says that epoch ${epoch} has a copy, but the storage does not list it: look whether somebody has removed e${epoch} beside ${LEASE_KEY}. To go on with what is left, stop all gateways, and delete ${LEASE_KEY} (docs/beyond-one-machine.md)`,
      )
    await Bun.sleep(LIST_AGAIN_MS)
  }
}

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
