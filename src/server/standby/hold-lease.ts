import { systemClock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import { type Log, errorName } from '../../core/log.ts'
import { EXIT } from '../../core/start-error.ts'
import { openDataFolder } from '../../db/data-folder.ts'
import { noteWaitFor } from '../../db/database-file.ts'
import type { ProcessLock } from '../../db/lock.ts'
import { untilReplicationEnded } from '../../operator/backup/replication.ts'
import type { BackupSettings } from '../../operator/backup/settings.ts'
import type { TakenLease } from '../../operator/lease/await-lease.ts'
import { settingsOfEpoch } from '../../operator/lease/epochs.ts'
import { HeldLease } from '../../operator/lease/held-lease.ts'
import { keepRemovingEpochs } from '../../operator/lease/remove-epochs.ts'
import { renewInThread } from '../../operator/lease/renew-in-thread.ts'
import { watchEpochs, watchStandbys } from '../../operator/lease/standbys.ts'
import { takeDatabase } from '../../operator/lease/take-database.ts'
import type { BackupProcess } from '../backup-process.ts'
import type { Shutdown } from '../shutdown.ts'
import { Standby } from './stand-by.ts'

/** What a gateway gets when it starts as the holder of the lease. */
export interface Holding {
  lease: HeldLease
  /** Copies to the folder of the lease's epoch. */
  backup: BackupProcess
  folderLock: ProcessLock
  /** Frees the ports and the operator's socket for the gateway. */
  stopListening(): Promise<void>
}

/**
 * Waits as a standby until this process holds the lease, then puts the newest database in place. Returns null if the process is stopped first.
 * Errors: `StartError`.
 */
export async function holdLease(
  config: Config,
  log: Log,
  backup: BackupProcess,
  shutdown: Shutdown,
): Promise<Holding | null> {
  const { settings } = backup
  const waiting = new AbortController()
  const ended = Promise.withResolvers<void>()
  shutdown.state = 'standby'
  shutdown.end = async () => {
    waiting.abort()
    await ended.promise
    return null
  }
  try {
    await using stack = new AsyncDisposableStack()
    const folderLock = await lockFolder(config, log, settings)
    stack.defer(() => folderLock.release())
    const standby = stack.use(new Standby(config, log, settings))
    const taken = await standby.untilTaken(waiting.signal)
    if (taken === null) return null
    const copying = backup.to(settingsOfEpoch(settings, taken.content.epoch))
    const lease = hold(standby, taken, copying, shutdown)
    await takeDatabase(settings, taken.content, standby.warm, log)
    stack.move()
    return { lease, backup: copying, folderLock, stopListening: standby.stopListening }
  } finally {
    ended.resolve()
  }
}

const LOCK_WAIT_MS = 30_000

async function lockFolder(config: Config, log: Log, { databasePath }: BackupSettings): Promise<ProcessLock> {
  const path = config.database.path ?? 'sgw.db'
  const lock = await openDataFolder(path, config.production ? LOCK_WAIT_MS : 0, noteWaitFor(path, log))
  await untilReplicationEnded(databasePath)
  return lock
}

/**
 * Keeps the lease from now on, and makes the process end with it. At a stop, the lease is given to a standby after everything else; when it is
 * lost, the process ends immediately.
 */
function hold(
  { config, log, settings, object }: Standby,
  taken: TakenLease,
  copying: BackupProcess,
  shutdown: Shutdown,
): HeldLease {
  const from = { settings, writer: object.writer, written: object.written, etag: taken.etag }
  const lease = new HeldLease({
    taken,
    object,
    clock: systemClock,
    log,
    replicaTimeoutMs: config.durability.replicaTimeoutMs,
    renew: (wish, hear) => renewInThread(from, wish, hear),
    lost(why) {
      shutdown.state = 'draining'
      copying.kill()
      process.stderr.write(`${lostLease(why)}\n`)
      shutdown.exit(EXIT.locked)
    },
    give: () => void shutdown.stop(EXIT.locked),
  })
  shutdown.state = 'starting'
  // A stop that comes while the gateway starts has nothing to drain.
  shutdown.end = async () => {
    copying.kill()
    await release(lease, log)
    return null
  }
  for (const watch of [watchStandbys, watchEpochs, keepRemovingEpochs]) void watch(lease)
  return lease
}

/** A standby would also take a lease that was not released, but 5 s later. */
export async function release(lease: HeldLease, log: Log): Promise<void> {
  await lease.release().catch((error: unknown) => log.warn({ error: errorName(error) }, 'the lease cannot be released'))
}

const lostLease = (why: string): string =>
  `This gateway has lost its lease: ${why}. It stops at once and copies nothing more: what was acknowledged is stored, and the new holder has it. Start it again, and it stands by (docs/beyond-one-machine.md)`
