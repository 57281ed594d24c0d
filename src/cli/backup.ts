import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT, StartError } from '../core/start-error.ts'
import { fetchBackup as fetchTo } from '../operator/backup/fetch-backup.ts'
import { type BackupSettings, describeReplica, readBackupSettings } from '../operator/backup/settings.ts'
import { findNewest, isShared } from '../operator/lease/find-newest.ts'
import { forkError } from '../operator/lease/newest.ts'
import { StoreError } from '../operator/lease/object-store.ts'
import { moveDatabase } from '../operator/lease/take-database.ts'
import { type CliContext, CliError } from './context.ts'

/** The absolute path of the database file, which Litestream needs. Errors: the database is on a server. */
export function databasePath(context: CliContext): string {
  const { path } = context.config.database
  if (path === null) throw new CliError('DATABASE_URL names a server: back up the database there', EXIT.usage)
  return resolve(path)
}

/**
 * Restores the newest state of the backup to `target`, or the state at `at` (ISO 8601); false if the storage has none. If gateways share a
 * lease, this is the newest of all copies. Errors: as `operator/backup/fetch-backup.ts`.
 */
export async function fetchBackup(context: CliContext, target: string, at: string | null = null): Promise<boolean> {
  try {
    const settings = settingsOf(context)
    if (!context.json) context.stderr(`Looking for a backup at ${describeReplica(settings)}\n`)
    if (!context.config.standby && !(await isShared(settings))) return await fetchTo(settings, target, { at })
    return await findNewest(settings, { scratch: `${target}-epoch`, at, withoutLocal: true }, ({ newest }) => {
      if (newest.type === 'fork') throw forkError(newest.fork)
      if (newest.type === 'copy') moveDatabase(newest.copy.file, target)
      return newest.type === 'copy'
    })
  } catch (error) {
    throw asCliError(error)
  }
}

/** Turns an error of the storage or of Litestream into one that a command reports. */
export function asCliError(error: unknown): unknown {
  if (error instanceof StoreError) return new CliError(`The backup cannot be read: ${error.message}`, EXIT.unavailable)
  return error instanceof StartError ? new CliError(error.message, error.exitCode) : error
}

export function settingsOf(context: CliContext): BackupSettings {
  const environment = { values: context.environment, readFile: (path: string) => readFileSync(path, 'utf8') }
  return readBackupSettings(environment, databasePath(context))
}
