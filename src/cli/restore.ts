import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EXIT, StartError } from '../core/start-error.ts'
import { openDataFolder, sizeOf } from '../data-folder.ts'
import { NOTHING, type Newest, databasePath, firstMissing, inspect, removeDatabase } from './backup.ts'
import { type CliContext, CliError } from './context.ts'
import { fetchBackup } from './fetch-backup.ts'
import { print } from './print.ts'

const LOCK_WAIT_MS = 30_000

/**
 * Before a start: a database that is missing or empty is brought back from its backup; one that is there stays as it is.
 * With `REQUIRE_RESTORE=1` a missing backup is an error, because a wrong address looks like no backup.
 */
export async function restore(context: CliContext): Promise<void> {
  const path = databasePath(context)
  const lock = await openDataFolder(path, LOCK_WAIT_MS).catch((error: unknown) => {
    throw error instanceof StartError ? new CliError(error.message, error.exitCode) : error
  })
  try {
    print(
      context,
      sizeOf(path) > 0 ? { restored: false, detail: 'the database is there' } : await bringBack(context, path),
    )
  } finally {
    lock.release()
  }
}

async function bringBack(context: CliContext, path: string): Promise<object> {
  const copy = `${path}.restoring`
  if (!(await fetchBackup(context, copy))) {
    if (!context.config.requireRestore)
      return { restored: false, detail: 'there is no backup: the database starts empty' }
    throw new CliError(
      'REQUIRE_RESTORE is set and there is no backup: check LITESTREAM_REPLICA_URL; for a very first start unset REQUIRE_RESTORE',
      EXIT.badConfig,
    )
  }
  const { rows, integrity } = inspect(copy)
  if (integrity !== 'ok')
    throw new CliError(`The backup is damaged (${integrity}); it is kept as ${copy}`, EXIT.cannotWrite)
  putInPlace(copy, path)
  return { restored: true, detail: `${rows} messages` }
}

/** Litestream's notes and the log of the lost database do not belong to the restored one. */
function putInPlace(copy: string, path: string): void {
  removeDatabase(path)
  rmSync(join(dirname(path), `.${basename(path)}-litestream`), { recursive: true, force: true })
  flush(copy)
  renameSync(copy, path)
  removeDatabase(copy)
  flush(dirname(path))
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/**
 * A drill beside the live file: fetches the backup, looks through it, and removes it again. Exit code 1 unless it is
 * whole and, where a gateway runs, has what was accepted a minute ago.
 */
export async function checkBackup(context: CliContext): Promise<void> {
  const path = databasePath(context)
  if (!existsSync(dirname(path)))
    throw new CliError(`There is no folder ${dirname(path)}: the drill needs room beside the database`)
  removeUnfinished(path)
  refuseFullDisk(path)
  const copy = `${path}.drill-${process.pid}`
  try {
    const startedAt = Date.now()
    const found = await fetchBackup(context, copy).catch(asFailure)
    const { rows, newest, integrity } = found
      ? inspect(copy)
      : { rows: 0, newest: NOTHING, integrity: 'there is no backup' }
    const verdict = integrity === 'ok' ? age(path, newest, startedAt) : integrity
    print(context, { ok: verdict === 'ok', rows, integrity: verdict })
    if (verdict !== 'ok') throw new CliError('')
  } finally {
    removeDatabase(copy)
  }
}

/** 78 is for whoever starts a server; a drill that is not set up has failed. */
function asFailure(error: unknown): never {
  throw error instanceof CliError && error.exitCode === EXIT.badConfig ? new CliError(error.message) : error
}

/** A drill that was killed leaves a whole copy of everybody's messages. */
function removeUnfinished(path: string): void {
  const prefix = `${path}.drill-`
  for (const file of readdirSync(dirname(path)).map((name) => join(dirname(path), name)))
    if (file.startsWith(prefix) && !isAlive(Number.parseInt(file.slice(prefix.length)))) rmSync(file, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Litestream copies about once a second. */
const MAX_LAG_MS = 60_000

/** A storage that can be read but no longer written keeps an old backup, which looks well by itself. */
function age(livePath: string, newest: Newest, now: number): string {
  // Only while a gateway has it open: reading it otherwise would leave files of this user beside it.
  const since = existsSync(`${livePath}-shm`) ? firstMissing(livePath, newest) : null
  if (since === null || now - since <= MAX_LAG_MS) return 'ok'
  const seconds = Math.round((now - since) / 1000)
  return `the backup is old: it has nothing of what was accepted in the last ${seconds} s; see Litestream's log`
}

/** The drill must not be what fills the disk of a gateway that works. */
function refuseFullDisk(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const neededBytes = 2 * sizeOf(path)
  if (bavail * bsize < neededBytes)
    throw new CliError(
      `The drill needs ${Math.ceil(neededBytes / 1e6)} MB free in ${dirname(path)}: make room, or run it on another machine`,
    )
}
