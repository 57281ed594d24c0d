import type { Config } from '../core/config.ts'
import { codeOf } from '../core/error-code.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { dataFolder } from '../db/data-folder.ts'
import { damageOf, isBusy, isStorageCode } from '../db/gate.ts'
import { whyNotStored } from '../db/storage.ts'
import { StoreError } from '../operator/lease/object-store.ts'
import { refusalOfReplaced } from '../db/replaced-database.ts'

/**
 * Turns an error of a damaged database, a full disk or a failing replica, which can occur at any step, into a `StartError`. Returns others
 * unchanged.
 */
export async function asStartError(error: unknown, { database: { path, url } }: Config): Promise<unknown> {
  if (error instanceof StoreError)
    return new StartError(EXIT.unavailable, `The backup's storage fails: ${error.message}. Try again when it works`)
  const damage = damageOf(error, path ?? url)
  if (damage !== null) {
    const replaced = path === null ? null : await refusalOfReplaced(path, null)
    return replaced === null ? new StartError(EXIT.cannotWrite, damage) : new StartError(EXIT.badConfig, replaced)
  }
  const notStored = whyNotStored(error)
  if (notStored !== null)
    return new StartError(
      EXIT.unavailable,
      `The replica does not store what is committed (${notStored}): check the storage, its credentials and the network, then start again`,
    )
  const code = diskFault(error)
  if (code === null) return error
  const folder = dataFolder(path ?? '.')
  return new StartError(
    EXIT.cannotWrite,
    `Cannot write in ${folder} (${code}): free some space, or check the disk and who may write there, then start again`,
  )
}

/** The code of an error that only a person can fix, such as a full disk; null for other errors. */
export function diskFault(error: unknown): string | null {
  const code = codeOf(error) ?? ''
  return isStorageCode(code) && !isBusy(error) ? code : null
}
