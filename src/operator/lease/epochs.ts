import type { BackupSettings } from '../backup/settings.ts'
import type { ObjectStore } from './object-store.ts'

/** Each holder of the lease copies to a folder of its own, so an earlier holder cannot touch the copy of a later one. */
export function settingsOfEpoch(settings: BackupSettings, epoch: number): BackupSettings {
  // Epoch 0: what a gateway without standbys has copied.
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
