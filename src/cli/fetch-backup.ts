import { existsSync, readFileSync, statSync } from 'node:fs'
import { holdsAnything, probeEndpoint } from '../operator/backup/storage.ts'
import { type Ended, runLitestream } from '../operator/backup/program.ts'
import { type BackupSettings, describeReplica, readBackupSettings, regionWarning } from '../operator/backup/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { DATABASE_FILES, databasePath, removeDatabase } from './backup.ts'
import { type CliContext, CliError } from './context.ts'

/**
 * Restores the newest state of the backup to `target`; false if the storage has no backup. Errors: Litestream fails, the
 * storage does not answer, or the backup is incomplete.
 */
export async function fetchBackup(context: CliContext, target: string): Promise<boolean> {
  try {
    const settings = settingsOf(context)
    context.stderr(`Looking for a backup at ${describeReplica(settings)}\n`)
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
  // Two tries: a gateway that has just started may upload its first file between the restore and the listing.
  for (let tries = 1; tries <= 2; tries++) {
    if (await restoreTo(settings, target)) return true
    if (!(await holdsAnything(settings))) return false
  }
  throw new CliError(damagedMessage(settings), EXIT.unavailable)
}

async function restoreTo(settings: BackupSettings, target: string): Promise<boolean> {
  const restored = await runLitestream(
    settings,
    ['restore', '-if-replica-exists', '-o', target, settings.databasePath],
    { timeoutMs: settings.timeoutMs, progress: () => progressOf(target) },
  )
  if (restored.code !== 0) throw await readError(settings, restored)
  return existsSync(target)
}

const damagedMessage = (settings: BackupSettings): string =>
  `The backup at ${describeReplica(settings)} is damaged: files that a restore needs are missing. Nothing was started from it: see "A damaged backup" in docs/backup.md`

async function readError(settings: BackupSettings, { reason, timedOut }: Ended): Promise<CliError> {
  const why = timedOut ? await probeEndpoint(settings) : null
  const hint = regionWarning(settings)
  const reasons = [reason, ...(why === null ? [] : [why])].join('; ')
  const lines = [
    `The backup at ${describeReplica(settings)} cannot be read: ${reasons}`,
    ...(hint === null ? [] : [hint]),
  ]
  return new CliError(lines.join('\n'), EXIT.unavailable)
}

/** A text that changes with every byte that arrives. */
function progressOf(target: string): string {
  const files = DATABASE_FILES.map((suffix) => statSync(`${target}${suffix}`, { throwIfNoEntry: false }))
  return files.map((file) => `${file?.size} ${file?.mtimeMs}`).join()
}
