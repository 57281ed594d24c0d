import { existsSync } from 'node:fs'
import { EXIT, StartError } from '../../core/start-error.ts'
import { progressOf, removeDatabase } from './database-copy.ts'
import { type Ended, runLitestream } from './program.ts'
import { type BackupSettings, describeReplica, regionWarning } from './settings.ts'
import { holdsAnything, probeEndpoint } from './storage.ts'

/** Default: the newest state that the storage lists. */
export interface WantedState {
  /** The state at a moment, ISO 8601. */
  at?: string | null
  /** The state after a transaction that the storage has, in hexadecimal. */
  transaction?: string | null
}

/**
 * Restores a state of the backup to `target`; false if the storage has none. Errors: `StartError` if Litestream fails, the storage does not
 * answer, or the backup is incomplete.
 */
export async function fetchBackup(
  settings: BackupSettings,
  target: string,
  { at = null, transaction = null }: WantedState = {},
): Promise<boolean> {
  removeDatabase(target)
  // A backup that began later also has files.
  if (at !== null) return restoreTo(settings, target, ['-timestamp', at])
  // Two tries: a gateway that has just started may upload its first file between the restore and the listing. A list may lag for longer.
  const words = transaction === null ? [] : ['-txid', transaction]
  const deadline = performance.now() + (transaction === null ? 0 : settings.timeoutMs)
  for (let tries = 1; tries <= 2 || performance.now() < deadline; tries++) {
    if (await restoreTo(settings, target, words)) return true
    if (!(await holdsAnything(settings))) return false
    await Bun.sleep(TRY_AGAIN_MS)
  }
  throw new StartError(EXIT.unavailable, damagedMessage(settings))
}

const TRY_AGAIN_MS = 250

async function restoreTo(settings: BackupSettings, target: string, moment: string[]): Promise<boolean> {
  const restored = await runLitestream(
    settings,
    ['restore', '-if-replica-exists', ...moment, '-o', target, settings.databasePath],
    { timeoutMs: settings.timeoutMs, progress: () => progressOf(target) },
  )
  if (restored.code !== 0) throw await readError(settings, restored)
  return existsSync(target)
}

const damagedMessage = (settings: BackupSettings): string =>
  `The backup at ${describeReplica(settings)} is damaged: files that a restore needs are missing. Nothing was started from it: see "A damaged backup" in docs/backup.md`

async function readError(settings: BackupSettings, { reason, timedOut }: Ended): Promise<StartError> {
  const why = timedOut ? await probeEndpoint(settings) : null
  const hint = regionWarning(settings)
  const reasons = [reason, ...(why === null ? [] : [why])].join('; ')
  const lines = [
    `The backup at ${describeReplica(settings)} cannot be read: ${reasons}`,
    ...(hint === null ? [] : [hint]),
  ]
  return new StartError(EXIT.unavailable, lines.join('\n'))
}
