import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { folderOf, settingsOfEpoch, untilListed } from './epochs.ts'
import type { ObjectStore } from './object-store.ts'

/** Litestream's name for its files: the first and the last transaction. It keeps the newest file of level 0. Source: its s3/replica_client.go. */
const FILE = /\/([\da-f]{16})-([\da-f]{16})\.ltx$/

/**
 * The newest transaction in the copy of an epoch, in hexadecimal; null without a copy. Litestream restores only what the storage lists, so
 * this checks whether a file exists after the last listed one. Errors: `StoreError`; as `untilListed`.
 */
export function newestTransaction(settings: BackupSettings, store: ObjectStore, epoch: number): Promise<string | null> {
  const folder = epoch === 0 ? '' : `${folderOf(epoch)}/`
  return untilListed(settings, async () => {
    const listed = (await store.list(`${folder}000`)).flatMap(({ key }) => FILE.exec(key)?.[2] ?? [])
    const newest = listed.toSorted().at(-1)
    if (newest === undefined) return { found: null }
    const next = (BigInt(`0x${newest}`) + 1n).toString(16).padStart(16, '0')
    if ((await store.get(`${folder}0000/${next}-${next}.ltx`)) === null) return { found: newest }
    const where = describeReplica(settingsOfEpoch(settings, epoch))
    return {
      missing: `The object storage does not list all of ${where}: it has transaction ${next}, but lists none after ${newest}. Nothing was restored, because acknowledged changes would be missing`,
    }
  })
}
