import { existsSync, readFileSync, statSync } from 'node:fs'
import { holdsAnything, probeEndpoint } from '../backup/place.ts'
import { type Ended, runLitestream } from '../backup/program.ts'
import { type BackupSettings, describePlace, readBackupSettings, regionWarning } from '../backup/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { DATABASE_FILES, databasePath, removeDatabase } from './backup.ts'
import { type CliContext, CliError } from './context.ts'

/**
 * Brings the newest state of the backup to `target`; false when the place of the backup is empty. Errors: what Litestream
 * says, a storage that stays silent, and a place that has files but no whole backup.
 */
export async function fetchBackup(context: CliContext, target: string): Promise<boolean> {
  try {
    const settings = settingsOf(context)
    context.stderr(`Looking for a backup at ${describePlace(settings)}\n`)
    removeDatabase(target)
    return await fetch(settings, target)
  } catch (error) {
    throw error instanceof StartError ? new CliError(error.message, error.exitCode) : error
  }
}

function settingsOf(context: CliContext): BackupSettings {
  const environment = { values: context.environment, readFile: (path: string) => readFileSync(path, 'utf8') }
  return readBackupSettings(environment, databasePath(context))
}

async function fetch(settings: BackupSettings, target: string): Promise<boolean> {
  // Twice: a gateway that has just started may upload its very first file between the two looks.
  for (let look = 1; look <= 2; look++) {
    if (await bringBack(settings, target)) return true
    if (!(await holdsAnything(settings))) return false
  }
  throw new CliError(damaged(settings), EXIT.unavailable)
}

async function bringBack(settings: BackupSettings, target: string): Promise<boolean> {
  const restored = await runLitestream(
    settings,
    ['restore', '-if-replica-exists', '-o', target, settings.databasePath],
    { timeoutMs: settings.timeoutMs, progress: () => progressOf(target) },
  )
  if (restored.code !== 0) throw await unreadable(settings, restored)
  return existsSync(target)
}

const damaged = (settings: BackupSettings): string =>
  `The backup at ${describePlace(settings)} is damaged: there are files, but not all that a restore needs. Nothing is started from it: docs/backup.md says how to go on ("A damaged backup")`

async function unreadable(settings: BackupSettings, { reason, timedOut }: Ended): Promise<CliError> {
  const why = timedOut ? await probeEndpoint(settings) : null
  const hint = regionWarning(settings)
  const told = [reason, ...(why === null ? [] : [why])].join('; ')
  const lines = [`The backup at ${describePlace(settings)} cannot be read: ${told}`, ...(hint === null ? [] : [hint])]
  return new CliError(lines.join('\n'), EXIT.unavailable)
}

/** Changes with every byte that arrives. */
function progressOf(target: string): string {
  const files = DATABASE_FILES.map((suffix) => statSync(`${target}${suffix}`, { throwIfNoEntry: false }))
  return files.map((file) => `${file?.size} ${file?.mtimeMs}`).join()
}
