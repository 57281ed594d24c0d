import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lockAlone, lockShared } from '../db/file-lock.ts'
import { isAlive } from './is-alive.ts'

/** The name of a backup until it is complete and checked. */
export const unfinishedName = (target: string): string => `${target}.sgw-part-${process.pid}`

const UNFINISHED = /\.sgw-part-(\d+)(-journal)?$/

/**
 * Call before a backup is written to `target`, and dispose of the result afterward. Removes files that killed backups left in that folder,
 * because they hold people's messages. Every backup holds a lock on its folder, which ends with its process, so nothing is removed while
 * another backup is being written there. A folder that cannot be locked (NFS) is left alone.
 */
export function beginBackup(target: string): Disposable {
  const folder = dirname(target)
  const file = openSync(folder, 'r')
  if (lockAlone(file)) removeUnfinished(folder)
  lockShared(file)
  return { [Symbol.dispose]: () => closeSync(file) }
}

function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = UNFINISHED.exec(name)?.[1]
    if (pid !== undefined && isOver(Number(pid))) removeIfPossible(join(folder, name))
  }
}

/** A file that cannot be removed, such as another user's in /tmp, must not prevent a backup. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Its owner's next backup removes it.
  }
}

/** Only Linux has the lock that proves it. */
const isOver = (pid: number): boolean => process.platform === 'linux' || pid === process.pid || !isAlive(pid)
