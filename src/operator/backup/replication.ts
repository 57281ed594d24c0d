import { EXIT, StartError } from '../../core/start-error.ts'
import { syncNow } from './control-socket.ts'
import { type LitestreamAge, readAge, runLitestream } from './program.ts'
import { type BackupSettings, describeReplica, environmentOf } from './settings.ts'

/** A running Litestream beside the gateway. */
export interface Replication {
  /** Its exit code, once it has ended for any reason. */
  ended: Promise<number>
  /**
   * Ends Litestream and copies the last changes. Call it after the gateway's database is closed. Returns null if the backup is
   * complete, else a sentence for the operator. Takes at most `limitMs`.
   */
  finish(limitMs: number): Promise<string | null>
  /**
   * Ends Litestream immediately, when the files at the path are no longer those of the gateway's database: a copy of them would damage the
   * backup. Returns a sentence for the operator.
   */
  abandon(): Promise<string>
  /** Ends Litestream immediately, without a last copy. */
  kill(): void
}

/** The Litestream of the earlier process may still be making its last copy. */
const LOCK_WAIT_SECONDS = 30

/** Checks that Litestream can be run; returns the function that starts it, also to another location. Errors: `StartError`, exit code 69. */
export async function prepareReplication(settings: BackupSettings): Promise<(settings: BackupSettings) => Replication> {
  const age = await readAge(settings)
  if (Bun.which('flock') === null)
    throw new StartError(EXIT.unavailable, 'flock cannot be run: install it (Debian: the package util-linux)')
  return (toStart) => startReplication(toStart, age)
}

/** Time reserved for Litestream to end after its last copy. */
const END_MS = 500

function startReplication(settings: BackupSettings, age: LitestreamAge): Replication {
  const child = spawn(settings)
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    ended: child.exited,
    finish(limitMs) {
      if (age === 'before 0.5.18' || hasEnded()) return finishByAnotherRun(settings, child, limitMs)
      return finishBySync(settings, child, limitMs)
    },
    async abandon() {
      child.kill('SIGKILL')
      await child.exited
      return `The backup at ${describeReplica(settings)} was left as it is, because the files at ${settings.databasePath} are no longer those of this gateway: see the lines above, and docs/runbooks.md.`
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Asks for the last copy; the answer comes when the storage has it. */
async function finishBySync(settings: BackupSettings, child: Bun.Subprocess, limitMs: number): Promise<string | null> {
  const deadline = performance.now() + limitMs
  const failure = await syncNow(settings.databasePath, { timeoutMs: limitMs - END_MS }).then(
    () => null,
    (error: Error) => error.message,
  )
  child.kill('SIGTERM')
  await endWithin(child, deadline - performance.now())
  return failure === null ? null : keepVolume(settings, failure)
}

/**
 * Litestream before 0.5.18 exits with 0 even if its last copy failed, and one that ended with the gateway's process group lacks later changes.
 * So a second run decides, and half of the time is reserved for it.
 */
async function finishByAnotherRun(
  settings: BackupSettings,
  child: Bun.Subprocess,
  limitMs: number,
): Promise<string | null> {
  const deadline = performance.now() + limitMs
  child.kill('SIGTERM')
  await endWithin(child, limitMs / 2)
  const { code, reason } = await runLitestream(settings, ['replicate', '-once'], {
    timeoutMs: Math.max(0, deadline - performance.now()),
  })
  return code === 0 ? null : keepVolume(settings, reason)
}

/**
 * Litestream runs in its own session, so that a signal to the gateway's process group does not end it before the gateway. When the
 * gateway ends, even by SIGKILL, the pipe closes, the command that reads it ends, and Litestream makes a last copy and ends as well.
 * It holds the lock until then, so that no two of them work on one database.
 */
function spawn(settings: BackupSettings) {
  const { program, configPath, databasePath } = settings
  const lock = ['--no-fork', '--timeout', `${LOCK_WAIT_SECONDS}`, '--conflict-exit-code', `${EXIT.locked}`]
  const replicate = [program, 'replicate', '-config', configPath, '-exec', `sh -c 'exec cat <&3 >/dev/null'`]
  return Bun.spawn(['flock', ...lock, backupLock(databasePath), ...replicate], {
    env: environmentOf(settings),
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    detached: true,
  })
}

/**
 * Waits for the Litestream of an earlier process, which makes its last copy and ends. Until then its files must not be touched. Errors:
 * `StartError`, exit code 75.
 */
export async function untilReplicationEnded(databasePath: string): Promise<void> {
  const command = ['flock', '--timeout', `${LOCK_WAIT_SECONDS}`, backupLock(databasePath), 'true']
  if ((await Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] }).exited) === 0) return
  throw new StartError(
    EXIT.locked,
    `A Litestream that an earlier process started still copies ${databasePath}: stop it, or try again when it has ended`,
  )
}

const backupLock = (databasePath: string): string => `${databasePath}.backup-lock`

async function endWithin(child: Bun.Subprocess, limitMs: number): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  await child.exited
  clearTimeout(timer)
}

const keepVolume = (settings: BackupSettings, reason: string): string =>
  `The backup at ${describeReplica(settings)} lacks the newest changes (${reason}). Keep this volume: ${settings.databasePath} has them, and the next start copies them.`
