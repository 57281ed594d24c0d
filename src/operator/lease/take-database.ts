import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Log } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { SUFFIXES } from '../../db/database-file.ts'
import { writeFact } from '../../db/history-rows.ts'
import { LOOK_UP_FACT } from '../../db/restore-mark.ts'
import { forgetReplication, inspect, putInPlace, removeFilesNamed } from '../backup/database-copy.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { type FetchedCopy, type LocalFile, ROOT_FACT } from './copies.ts'
import { folderOf } from './epochs.ts'
import { type Found, findNewest } from './find-newest.ts'
import { type Newest, forkError } from './newest.ts'
import type { LeaseContent } from './lease-object.ts'
import { ObjectStore } from './object-store.ts'
import type { WarmCopy } from './warm-copy.ts'

/**
 * Puts the newest database in place for a gateway that has just taken the lease: the newest copy, or the local file if it has everything that
 * the copy has, and more. Without either, the gateway starts with an empty database. A file that is replaced is moved aside. If messages of the
 * copy may have been sent, the start is told. Errors: `StartError` 78 if each has changes that the other lacks, and then both stay; 69 if the
 * copy cannot be fetched. The process keeps the lease during this time, so each request that the storage loses is repeated for as long as a
 * restore may wait; a warm copy is not fetched again. `StoreError` after that.
 */
export async function takeDatabase(
  settings: BackupSettings,
  { epoch, mayBeSent }: Pick<LeaseContent, 'epoch' | 'mayBeSent'>,
  warm: WarmCopy,
  log: Log,
): Promise<void> {
  const path = settings.databasePath
  const store = new ObjectStore(settings, { until: performance.now() + settings.timeoutMs, log })
  removeFilesNamed(`${path}${UNFINISHED}`)
  await refuseUsedFolder(store, epoch)
  await findNewest(settings, { scratch: `${path}${UNFINISHED}${epoch}`, store, warm, log }, (found) =>
    place(path, found, mayBeSent, log),
  )
  forgetReplication(path)
}

/** Nothing may be there before the first upload of this epoch: the copy would be mixed with it. */
async function refuseUsedFolder(store: ObjectStore, epoch: number): Promise<void> {
  const [found] = await store.list(`${folderOf(epoch)}/`)
  if (found !== undefined)
    throw new StartError(
      EXIT.badConfig,
      `${found.key} beside the lease is older than its epoch ${epoch}, which has just begun: find out what wrote it, and start again (docs/beyond-one-machine.md)`,
    )
}

function place(path: string, { newest, local, root }: Found, mayBeSent: boolean, log: Log): void {
  if (newest.type === 'fork') throw forkError(newest.fork)
  if (newest.type === 'copy') placeCopy(path, newest, local, log)
  else if (local === null) return
  else log.info({}, 'the database on this machine has everything that the copy has, and is used')
  writeFact(path, ROOT_FACT, root)
  if (newest.type === 'copy' && mayBeSent) writeFact(path, LOOK_UP_FACT, 'copy')
}

function placeCopy(
  path: string,
  { copy, unanswered }: Extract<Newest, { type: 'copy' }>,
  local: LocalFile | null,
  log: Log,
): void {
  const messages = checkedRows(copy)
  // Each is as large as the database, so only a holder's last one stays. A file from before the first lease stays forever.
  const aside = local?.history.epoch === null ? `${path}.before-epoch-${copy.epoch}` : `${path}.aside`
  if (local !== null) moveDatabase(path, aside)
  putInPlace(copy.file, path, true, (text) => log.warn({}, text))
  log.info({ epoch: copy.epoch, messages, unanswered }, 'the database was fetched from the object storage')
}

/** Counts the messages of a copy. Errors: the copy is damaged, and then it is kept. */
export function checkedRows({ file, where, checked }: Pick<FetchedCopy, 'file' | 'where' | 'checked'>): number {
  if (checked !== null) return checked
  const { integrity, rows } = inspect(file)
  if (integrity === 'ok') return rows
  const kept = `${file}.damaged`
  renameSync(file, kept)
  throw new StartError(EXIT.cannotWrite, `The copy at ${where} is damaged (${integrity}); it is kept as ${kept}`)
}

/** A file of its own for each epoch: the Litestream of a process that was killed may still be writing its file. */
const UNFINISHED = '.restoring-e'

/** Moves a database with its log over another one. */
export function moveDatabase(from: string, to: string): void {
  for (const suffix of SUFFIXES) {
    rmSync(`${to}${suffix}`, { force: true })
    if (existsSync(`${from}${suffix}`)) renameSync(`${from}${suffix}`, `${to}${suffix}`)
  }
}
