import { EXIT, StartError } from '../core/start-error.ts'
import { isBeforeVersion5, runLitestream } from './program.ts'
import { type BackupSettings, describePlace } from './settings.ts'

/** Litestream as it runs beside the gateway. */
export interface Replication {
  /** Its exit code, once it has ended for whatever reason. */
  ended: Promise<number>
  /**
   * Ends it when the gateway's database is closed, and copies what came last. Answers null when the backup has everything,
   * else a sentence for the operator. Takes no longer than `limitMs`.
   */
  finish(limitMs: number): Promise<string | null>
}

/** The last start's Litestream may still make its last copy. */
const LOCK_WAIT_SECONDS = 30
/** Litestream 0.3 looks at the database for the first time a second after its start: before that it copies nothing. */
const MIN_LIFE_BEFORE_VERSION_5_MS = 2500

/** Checks that Litestream can be run; answers how to start it. Errors: `StartError`, exit code 69. */
export async function prepareReplication(settings: BackupSettings): Promise<() => Replication> {
  const old = await isBeforeVersion5(settings)
  if (Bun.which('flock') === null)
    throw new StartError(EXIT.unavailable, 'flock cannot be run: install it (Debian: the package util-linux)')
  return () => startReplication(settings, old)
}

function startReplication(settings: BackupSettings, old: boolean): Replication {
  const startedAt = performance.now()
  const child = spawn(settings)
  return {
    ended: child.exited,
    async finish(limitMs) {
      const deadline = performance.now() + limitMs
      const early = child.exitCode !== null || child.signalCode !== null
      if (old && !early) await Bun.sleep(MIN_LIFE_BEFORE_VERSION_5_MS - (performance.now() - startedAt))
      child.kill('SIGTERM')
      // Its own last copy ends with 0 even when it failed, so a second run decides; it needs half of the time.
      await endWithin(child, old ? limitMs : limitMs / 2)
      if (old) return !early && child.exitCode === 0 ? null : keepVolume(settings, 'see the lines of Litestream above')
      const { code, reason } = await runLitestream(settings, ['replicate', '-once'], {
        timeoutMs: Math.max(0, deadline - performance.now()),
      })
      return code === 0 ? null : keepVolume(settings, reason)
    },
  }
}

/**
 * Litestream has a session of its own: a signal to the gateway's process group must not end it before the gateway. When the
 * gateway dies, even by SIGKILL, the pipe closes, the command that reads it ends, and Litestream makes a last copy and ends
 * too. It holds the lock until then, so that two of them never work on one database.
 */
function spawn({ program, configPath, databasePath, variables }: BackupSettings) {
  const lock = ['--no-fork', '--timeout', `${LOCK_WAIT_SECONDS}`, '--conflict-exit-code', `${EXIT.locked}`]
  const replicate = [program, 'replicate', '-config', configPath, '-exec', `sh -c 'exec cat <&3 >/dev/null'`]
  return Bun.spawn(['flock', ...lock, `${databasePath}.backup-lock`, ...replicate], {
    env: variables,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    detached: true,
  })
}

async function endWithin(child: Bun.Subprocess, limitMs: number): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  await child.exited
  clearTimeout(timer)
}

const keepVolume = (settings: BackupSettings, reason: string): string =>
  `The backup at ${describePlace(settings)} lacks the newest changes (${reason}). Keep this volume: ${settings.databasePath} has them, and the next start copies them.`
