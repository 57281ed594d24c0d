import { EXIT, StartError } from '../../core/start-error.ts'
import type { BackupSettings } from '../backup/settings.ts'
import type { ObjectStore } from './object-store.ts'

/** Each holder of the lease copies to a folder of its own, so an earlier holder cannot touch the copy of a later one. */
export function settingsOfEpoch(settings: BackupSettings, epoch: number): BackupSettings {
  // Epoch 0: the copy of a gateway without standbys.
  if (epoch === 0) return settings
  const url = new URL(settings.replicaUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${folderOf(epoch)}`
  return { ...settings, replicaUrl: url.href }
}

export const folderOf = (epoch: number): string => `e${epoch}`

/** The epochs that have anything in the storage, newest first. */
export async function listEpochs(store: ObjectStore): Promise<number[]> {
  const numbers = (await store.folders('e')).map((folder) => /^e([1-9]\d{0,14})$/.exec(folder)?.[1])
  return numbers
    .flatMap((number) => (number === undefined ? [] : [Number(number)]))
    .toSorted((one, other) => other - one)
}

const LIST_AGAIN_MS = 500

/**
 * A list may lag, and a restore from an incomplete list would give an older state. So this lists again while something is `missing`. Errors:
 * `StartError`, 69 with what is missing after LITESTREAM_TIMEOUT.
 */
export async function untilListed<T>(
  { timeoutMs }: BackupSettings,
  look: () => Promise<{ found: T } | { missing: string }>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const seen = await look()
    if ('found' in seen) return seen.found
    if (performance.now() >= deadline) throw new StartError(EXIT.unavailable, seen.missing)
    await Bun.sleep(LIST_AGAIN_MS)
  }
}
