import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Log } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { SUFFIXES } from '../../db/database-file.ts'
import { refusalOfForeignLog } from '../../db/foreign-log.ts'
import { readHistory, writeFact } from '../../db/history-rows.ts'
import { forgetReplication, inspect, putInPlace } from '../backup/database-copy.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { type Copies, type FetchedCopy, ROOT_FACT, fetchCopies, removeCopies } from './copies.ts'
import { folderOf } from './epochs.ts'
import { type LocalFile, type Newest, forkError, newestOf } from './newest.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Puts the newest database in place for a gateway that has just taken the lease: the newest copy, or the file that is here if it lacks
 * nothing of it and has more. Without both the gateway starts with an empty one. A file that gives way is moved aside. Errors: `StartError`
 * 78 if each has something that the other lacks, and then both are left; 69 if the copy cannot be fetched.
 */
export async function takeDatabase(
  settings: BackupSettings,
  store: ObjectStore,
  epoch: number,
  log: Log,
): Promise<void> {
  const path = settings.databasePath
  removeUnfinished(path)
  await refuseUsedFolder(store, epoch)
  const copies = await fetchCopies(settings, store, `${path}${UNFINISHED}${epoch}`, { log })
  try {
    const local = copies.copies.length > 0 && sizeOf(path) > 0 ? await readLocal(path) : null
    place(path, copies, local, log)
  } finally {
    removeCopies(copies.copies)
  }
  forgetReplication(path)
}

/** Nothing can be there before the first upload of this epoch. Whatever it is, the copy would be mixed with it. */
async function refuseUsedFolder(store: ObjectStore, epoch: number): Promise<void> {
  const [found] = await store.list(`${folderOf(epoch)}/`)
  if (found !== undefined)
    throw new StartError(
      EXIT.badConfig,
      `${found.key} beside the lease is older than its epoch ${epoch}, which has just begun: look at what has written it, and start again (docs/beyond-one-machine.md)`,
    )
}

function place(path: string, { copies, root }: Copies, local: LocalFile | null, log: Log): void {
  const newest = newestOf(copies, local)
  if (newest.type === 'none') return
  if (newest.type === 'fork') throw forkError(newest.fork)
  if (newest.type === 'copy') placeCopy(path, newest, local, log)
  else log.info({}, 'the database on this machine lacks nothing of the copy, and is taken')
  writeFact(path, ROOT_FACT, root)
}

function placeCopy(
  path: string,
  { copy, unanswered }: Extract<Newest, { type: 'copy' }>,
  local: LocalFile | null,
  log: Log,
): void {
  const messages = checkedRows(copy)
  if (local !== null) moveAside(path, copy.epoch, local.history.epoch !== null)
  putInPlace(copy.file, path, true, (text) => log.warn({}, text))
  log.info({ epoch: copy.epoch, messages, unanswered }, 'the database was fetched from the storage')
}

/** How many messages a copy has. Errors: it is damaged, and then it is kept. */
export function checkedRows({ file, where }: Pick<FetchedCopy, 'file' | 'where'>): number {
  const { integrity, rows } = inspect(file)
  if (integrity === 'ok') return rows
  const kept = `${file}.damaged`
  renameSync(file, kept)
  throw new StartError(EXIT.cannotWrite, `The copy at ${where} is damaged (${integrity}); it is kept as ${kept}`)
}

/** A file of its own for each epoch: the Litestream of a process that was killed may still be writing its file. */
const UNFINISHED = '.restoring-e'

function removeUnfinished(path: string): void {
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(`${basename(path)}${UNFINISHED}`)) rmSync(join(dirname(path), name), { force: true })
}

/** Errors: `StartError` 78 if the file cannot be read, and nobody can say what it has. */
export async function readLocal(path: string): Promise<LocalFile> {
  const foreign = refusalOfForeignLog(path)
  if (foreign !== null) throw new StartError(EXIT.badConfig, foreign)
  try {
    return { path, history: await readHistory(path) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      EXIT.badConfig,
      `${path} cannot be compared with the copies in the storage (${reason}): nothing was changed. To go on with the copy, move ${path} elsewhere (docs/beyond-one-machine.md)`,
    )
  }
}

/**
 * Keeps the file. Each is as large as the database, so of those that a holder has left only the last one stays. One from before the
 * first lease stays for ever.
 */
function moveAside(path: string, epoch: number, isOfHolder: boolean): void {
  moveDatabase(path, isOfHolder ? `${path}.aside` : `${path}.before-epoch-${epoch}`)
}

/** Moves a database with its log over another one. */
export function moveDatabase(from: string, to: string): void {
  for (const suffix of SUFFIXES) {
    rmSync(`${to}${suffix}`, { force: true })
    if (existsSync(`${from}${suffix}`)) renameSync(`${from}${suffix}`, `${to}${suffix}`)
  }
}
