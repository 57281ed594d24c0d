import { EXIT, StartError } from '../../core/start-error.ts'
import { type BackupSettings, describeReplica } from '../backup/settings.ts'
import { folderOf, settingsOfEpoch } from './epochs.ts'
import type { ObjectStore } from './object-store.ts'

/** Litestream's name for its files: the first and the last transaction. It keeps the newest file of level 0. Source: its s3/replica_client.go. */
const FILE = /\/([\da-f]{16})-([\da-f]{16})\.ltx$/
const LOOK_AGAIN_MS = 500

/**
 * The newest transaction in the copy of an epoch, in hexadecimal; null without a copy. Litestream restores what the storage lists, and a list
 * may lag, so this reads whether there is a file after the last one listed, and waits until that is listed as well. Errors: `StoreError`;
 * `StartError`, 69 if the list lags for longer than LITESTREAM_TIMEOUT.
 */
export async function newestTransaction(
  settings: BackupSettings,
  store: ObjectStore,
  epoch: number,
): Promise<string | null> {
  const folder = epoch === 0 ? '' : `${folderOf(epoch)}/`
  const deadline = performance.now() + settings.timeoutMs
  for (;;) {
    const listed = (await store.list(`${folder}000`)).flatMap(({ key }) => FILE.exec(key)?.[2] ?? [])
    const newest = listed.toSorted().at(-1)
    if (newest === undefined) return null
    const next = (BigInt(`0x${newest}`) + 1n).toString(16).padStart(16, '0')
    if ((await store.get(`${folder}0000/${next}-${next}.ltx`)) === null) return newest
    if (performance.now() >= deadline)
      throw new StartError(
        EXIT.unavailable,
        `The storage does not list all of ${describeReplica(settingsOfEpoch(settings, epoch))}: it has transaction ${next}, but lists none after ${newest}. Nothing was restored, because what was acknowledged would be missing`,
      )
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}
