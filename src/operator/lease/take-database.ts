import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Log } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { type Complete, completeOne } from '../../db/compare-databases.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { SUFFIXES } from '../../db/database-file.ts'
import { refusalOfForeignLog } from '../../db/foreign-log.ts'
import { forgetReplication, inspect, putInPlace, removeDatabase } from '../backup/database-copy.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { type FetchedCopy, fetchNewest } from './fetch-newest.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Puts the newest database in place for a gateway that has just taken the lease: that of the newest epoch with a copy, or the file that is
 * here if it lacks nothing of it. Without both the gateway starts with an empty one. A file that gives way is moved aside. Errors: `StartError`
 * 78 if each may have something that the other lacks, and then both are left; 69 if the copy cannot be fetched.
 */
export async function takeDatabase(
  settings: BackupSettings,
  store: ObjectStore,
  epoch: number,
  log: Log,
): Promise<void> {
  const path = settings.databasePath
  removeUnfinished(path)
  const copy = await fetchNewest(settings, store, `${path}${UNFINISHED}${epoch}`, { log })
  if (copy === null) return forgetReplication(path)
  const { integrity, rows } = inspect(copy.file)
  if (integrity !== 'ok')
    throw new StartError(
      EXIT.cannotWrite,
      `The copy at ${copy.where} is damaged (${integrity}); it is kept as ${copy.file}`,
    )
  if (sizeOf(path) > 0) {
    const { complete, isOfHolder } = await whichIsComplete(path, copy)
    if (complete === 'local') {
      removeDatabase(copy.file)
      log.info({ epoch: copy.epoch }, 'the database on this machine lacks nothing of the copy, and is taken')
      return forgetReplication(path)
    }
    moveAside(path, copy.epoch, isOfHolder)
  }
  putInPlace(copy.file, path, true, (text) => log.warn({}, text))
  log.info({ epoch: copy.epoch, messages: rows }, 'the database was fetched from the storage')
}

/** A file of its own for each epoch: the Litestream of a process that was killed may still be writing its file. */
const UNFINISHED = '.restoring-e'

function removeUnfinished(path: string): void {
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(`${basename(path)}${UNFINISHED}`)) rmSync(join(dirname(path), name), { force: true })
}

async function whichIsComplete(path: string, { file, epoch, where }: FetchedCopy): Promise<Complete> {
  const foreign = refusalOfForeignLog(path)
  if (foreign !== null) throw new StartError(EXIT.badConfig, foreign)
  const complete = await completeOne({ local: path, copy: file }, epoch).catch((error: unknown) => reasonOf(error))
  if (complete !== null && typeof complete !== 'string') return complete
  removeDatabase(file)
  const what =
    complete === null
      ? `and the copy at ${where} have each something that the other lacks`
      : `cannot be compared with the copy at ${where} (${complete})`
  throw new StartError(
    EXIT.badConfig,
    `${path} ${what}: nothing was changed. To go on with the copy, move ${path} elsewhere; to go on with the file, name another place in LITESTREAM_REPLICA_URL (docs/beyond-one-machine.md)`,
  )
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Keeps the file. Each is as large as the database, so of those that a holder has left only the last one stays. One from before the
 * first lease stays for ever.
 */
function moveAside(path: string, epoch: number, isOfHolder: boolean): void {
  const aside = isOfHolder ? `${path}.aside` : `${path}.before-epoch-${epoch}`
  for (const suffix of SUFFIXES) {
    rmSync(`${aside}${suffix}`, { force: true })
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`)
  }
}
