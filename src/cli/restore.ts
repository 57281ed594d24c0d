import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isoTime } from '../core/clock.ts'
import { parseDateTime } from '../core/date-time.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { openDataFolder, sizeOf } from '../db/data-folder.ts'
import { refusalOfFolder } from '../db/file-access.ts'
import { beginHistory } from '../db/history-rows.ts'
import {
  NO_MESSAGE,
  type NewestMessage,
  firstMissing,
  inspect,
  noteRestored,
  putInPlace,
  removeDatabase,
} from '../operator/backup/database-copy.ts'
import { databasePath, fetchBackup } from './backup.ts'
import { type CliContext, CliError } from './context.ts'
import { isAlive } from './is-alive.ts'
import { print } from './print.ts'

const LOCK_WAIT_MS = 30_000

/**
 * Restores a database that is missing or empty from its backup, before a start. Leaves an existing one as it is. With `REQUIRE_RESTORE=1` a
 * missing backup is an error, because a wrong address looks like a missing backup. `moment`: a date-time with offset; restores the state at
 * that time, and refuses if a database exists.
 */
export async function restore(context: CliContext, moment: string | null): Promise<void> {
  const path = databasePath(context)
  const at = moment === null ? null : isoOf(moment)
  if (at !== null && sizeOf(path) > 0)
    throw new CliError(`${path} exists: stop the gateway, and move it elsewhere first`, EXIT.usage)
  const lock = await openDataFolder(path, LOCK_WAIT_MS).catch((error: unknown) => {
    throw error instanceof StartError ? new CliError(error.message, error.exitCode) : error
  })
  try {
    print(
      context,
      sizeOf(path) > 0 ? { restored: false, detail: 'the database exists' } : await restoreMissing(context, path, at),
    )
  } finally {
    lock.release()
  }
}

function isoOf(moment: string): string {
  const at = parseDateTime(moment)
  if (at === null)
    throw new CliError(
      `--timestamp is "${moment}": give a date-time with offset, such as 2026-11-24T10:00:00Z`,
      EXIT.usage,
    )
  return isoTime(at)
}

async function restoreMissing(context: CliContext, path: string, at: string | null): Promise<object> {
  const copy = `${path}.restoring`
  if (!(await fetchBackup(context, copy, at))) {
    if (at !== null) throw new CliError(`The backup has nothing from before ${at}`)
    if (!context.config.requireRestore)
      return { restored: false, detail: 'there is no backup: the database starts empty' }
    throw new CliError(
      'REQUIRE_RESTORE is set and there is no backup: check LITESTREAM_REPLICA_URL; for the very first start, unset REQUIRE_RESTORE',
      EXIT.badConfig,
    )
  }
  const { rows, integrity } = inspect(copy)
  if (integrity !== 'ok')
    throw new CliError(`The backup is damaged (${integrity}); it is kept as ${copy}`, EXIT.cannotWrite)
  // Only the newest state is complete.
  const isReplicated = at === null && context.config.durability.mode === 'replica'
  noteRestored(copy, Date.now())
  if (at !== null) beginHistory(copy)
  putInPlace(copy, path, isReplicated, (text) => context.stderr(`${text}\n`))
  // It may say that the database continues from this moment.
  if (at !== null) rmSync(`${path}.mark`, { force: true })
  return { restored: true, detail: `${rows} messages${at === null ? '' : ` as of ${at}${next(context)}`}` }
}

/** Such a state is a separate history: a gateway with standbys does not pick it as the newest one on its own. */
const next = ({ config }: CliContext): string =>
  config.standby ? '; to continue from there, stop all gateways and run: sgw restore --choose local' : ''

/**
 * Tests the backup: fetches it beside the live file, checks it, and removes it. Exits with 1 if it is damaged, or if a gateway runs and the
 * backup lacks messages accepted a minute ago.
 */
export async function checkBackup(context: CliContext): Promise<void> {
  const path = databasePath(context)
  const refusal = refusalOfFolder(dirname(path))
  if (refusal !== null) throw new CliError(refusal)
  if (!existsSync(dirname(path)))
    throw new CliError(`There is no folder ${dirname(path)}: the drill needs space beside the database`)
  removeUnfinished(path)
  refuseFullDisk(path)
  const copy = `${path}.drill-${process.pid}`
  try {
    const startedAt = Date.now()
    const found = await fetchBackup(context, copy).catch(asFailure)
    const { rows, newest, integrity } = found
      ? inspect(copy)
      : { rows: 0, newest: NO_MESSAGE, integrity: 'there is no backup' }
    const verdict = integrity === 'ok' ? checkAge(path, newest, startedAt) : integrity
    print(context, { ok: verdict === 'ok', rows, integrity: verdict })
    if (verdict !== 'ok') throw new CliError('')
  } finally {
    removeDatabase(copy)
  }
}

/** Turns exit code 78, which means that the server's configuration is bad, into 1: the drill has failed. */
function asFailure(error: unknown): never {
  throw error instanceof CliError && error.exitCode === EXIT.badConfig ? new CliError(error.message) : error
}

/** Removes copies left by killed drills, because they hold people's messages. */
function removeUnfinished(path: string): void {
  const prefix = `${path}.drill-`
  for (const file of readdirSync(dirname(path)).map((name) => join(dirname(path), name)))
    if (file.startsWith(prefix) && !isAlive(Number.parseInt(file.slice(prefix.length)))) rmSync(file, { force: true })
}

/** Litestream copies changes about once a second, so a minute is a clear failure. */
const MAX_LAG_MS = 60_000

/** Compares the backup's newest message with the live database: if the storage can no longer be written, it keeps an old backup. */
function checkAge(livePath: string, newest: NewestMessage, now: number): string {
  // The live database is read only while a gateway has it open. Otherwise this would create files of this user beside it.
  const since = existsSync(`${livePath}-shm`) ? firstMissing(livePath, newest) : null
  if (since === null || now - since <= MAX_LAG_MS) return 'ok'
  const seconds = Math.round((now - since) / 1000)
  return `the backup is old: it lacks everything that was accepted in the last ${seconds} s; see Litestream's log`
}

/** The drill must not fill the disk of a running gateway. */
function refuseFullDisk(path: string): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const neededBytes = 2 * sizeOf(path)
  if (bavail * bsize < neededBytes)
    throw new CliError(
      `The drill needs ${Math.ceil(neededBytes / 1e6)} MB in ${dirname(path)}: free some space, or run it on another machine`,
    )
}
