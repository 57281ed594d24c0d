import { systemClock, type Clock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import { createIds } from '../core/ids.ts'
import type { Lease } from '../core/lease.ts'
import { type Log, type LogFields, errorName } from '../core/log.ts'
import { type Meter, noMeter } from '../core/meter.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { VERSION } from '../core/version.ts'
import { authenticateSocket } from '../api/ws/authenticate.ts'
import { forgetOperators } from '../auth/operator-sessions.ts'
import { encryptionKeys, missingKey, openDataFolder, sizeOf } from '../db/data-folder.ts'
import { lockDatabase, noteWaitFor } from '../db/database-file.ts'
import type { ProcessLock } from '../db/lock.ts'
import { type Database, type UpgradeStep, openDatabase } from '../db/database.ts'
import { refusalOfForeignLog } from '../db/foreign-log.ts'
import { damageOf, damagedText, isStorageCode } from '../db/gate.ts'
import { isWithoutItsLog, traceOfDatabase } from '../db/lost-database.ts'
import { SchemaError } from '../db/migrate.ts'
import { refusalOfReplaced } from '../db/replaced-database.ts'
import type { Replica } from '../db/replicated-gate.ts'
import { markEvents } from '../db/mark-events.ts'
import { openRestoreMark } from '../db/restore-mark.ts'
import { type Storage, whyNotStored } from '../db/storage.ts'
import { type Gateway, buildGateway } from '../messages/gateway.ts'
import type { Provider } from '../provider/provider.ts'
import { createRingCentral } from '../provider/ringcentral/client.ts'
import { diskFault } from './start-failure.ts'

export interface RunOptions {
  config: Config
  log: Log
  clock?: Clock
  /** How long to wait for the database's lock. */
  lockWaitMs?: number
  /** Must have each commit before it is acknowledged. */
  replica?: Replica
  /**
   * Starts the replication of the database. It is migrated and known to be the gateway's own, and nothing else has been written: what
   * the start writes next may have to be stored at the replica.
   */
  replicate?(): Promise<void>
  /** The lease that this process holds, among gateways with `STANDBY`. */
  lease?: Lease
  /** The lock of the data folder, if this process has it already. */
  folderLock?: ProcessLock
  /** Ends what has listened in place of the gateway. */
  beforeListening?(): Promise<void>
  /** Counts calls and webhook POSTs. */
  meter?: Meter
  /** Prepares the gateway before the listener opens. */
  prepare?(gateway: Gateway): Promise<void>
}

const LOCK_WAIT_MS = 30_000

/** Builds a gateway without listener, jobs or timers: for the server, and for commands that run without one. */
export async function openGateway(options: RunOptions, stack: AsyncDisposableStack): Promise<Gateway> {
  const { log, clock = systemClock, meter = noMeter } = options
  const config = { ...options.config }
  const path = config.database.path ?? 'sgw.db'
  await lockFiles(options, path, stack)
  // Before the database, so that no crash leaves one without its key.
  const keys = encryptionKeys(config)
  const isLogEmpty = sizeOf(`${path}-wal`) === 0
  const database = await open(options, config, clock)
  stack.defer(() => database.close())
  // A file that is not a database is refused as such.
  if (keys === null) throw missingKey(config)
  const replaced = await refusalOfReplaced(path, database.gate)
  if (replaced !== null) throw new StartError(EXIT.badConfig, replaced)
  await replicate(options, path, database, isLogEmpty)
  const ids = createIds()
  const { restoreMark, restored } = await openMark(database, path, { incarnation: ids.of('boot'), now: clock.now() })
  stack.defer(markEvents(database, restoreMark, clock))
  if (restored) await noteRestored(database, log)
  const gateway = buildGateway({
    config,
    encryptionKeys: keys,
    clock,
    ids,
    log: withoutRepeats(log, database.storage),
    database,
    provider: providerOf(config, clock),
    bootId: ids.of('boot'),
    restoreMark,
    meter,
    authenticateSocket,
    ...(options.lease && { lease: options.lease }),
  })
  await gateway.directory.restoreRefusals()
  return gateway
}

/** Takes the locks of the data folder and of the database file, unless that file, or its log, is not the one that was used here last. */
async function lockFiles(options: RunOptions, path: string, stack: AsyncDisposableStack): Promise<void> {
  const { config, log } = options
  // A supervisor may start the next process before the last one has ended. A developer wants to know immediately.
  const { lockWaitMs = config.production ? LOCK_WAIT_MS : 0 } = options
  const noteWait = noteWaitFor(path, log)
  const lock = options.folderLock ?? (await openDataFolder(path, lockWaitMs, noteWait))
  stack.defer(() => lock.release())
  refuseLost(config, path)
  const foreign = refusalOfForeignLog(path)
  // Litestream kept the log at a stop that saved a copy.
  if (foreign !== null) throw new StartError(EXIT.badConfig, (await refusalOfReplaced(path, null)) ?? foreign)
  const fileLock = await lockDatabase(path, lockWaitMs, noteWait)
  stack.defer(() => fileLock.release())
}

type FreshMark = Parameters<typeof openRestoreMark>[2]

function openMark(database: Database, path: string, fresh: FreshMark): ReturnType<typeof openRestoreMark> {
  return openRestoreMark(database, `${path}.mark`, fresh).catch((error: unknown) => {
    if (damageOf(error, path) !== null || whyNotStored(error) !== null || error instanceof StartError) throw error
    throw new StartError(
      EXIT.cannotWrite,
      `Cannot mark the database in ${path}.mark (${errorName(error)}): check that both belong to this user, and that the disk has space`,
    )
  })
}

async function noteRestored({ orm }: Database, log: Log): Promise<void> {
  await forgetOperators(orm)
  log.warn(
    {},
    'this database was restored from a backup: each waiting message is looked up at the provider before it is sent',
  )
}

const providerOf = ({ provider, providerTimeoutMs }: Config, clock: Clock): Provider =>
  createRingCentral({
    ...provider,
    timeoutMs: providerTimeoutMs,
    userAgent: `sgw/${VERSION}`,
    now: () => clock.now(),
    steady: () => clock.steady(),
  })

/** Refuses a missing database where there was one, or where one must be. */
function refuseLost({ requireRestore }: Config, path: string): void {
  if (sizeOf(path) > 0 && !isWithoutItsLog(path)) return
  if (requireRestore)
    throw new StartError(
      EXIT.badConfig,
      `REQUIRE_RESTORE is set and ${path} is missing: run sgw restore; for the very first start, unset REQUIRE_RESTORE`,
    )
  const trace = traceOfDatabase(path)
  if (trace !== null) throw new StartError(EXIT.badConfig, trace)
}

/**
 * Starts the replication. Litestream continues at the end of the log. Without a log, it copies all pages, and damaged ones would become the
 * newest backup, so they are checked first, in the time that the disk takes to read them. A holder of the lease has just fetched and checked
 * its database.
 */
async function replicate(options: RunOptions, path: string, database: Database, copiesAll: boolean): Promise<void> {
  if (options.replicate !== undefined && options.lease === undefined && copiesAll) {
    options.log.info({ bytes: sizeOf(path) }, 'checking the database before copying all of it to the backup')
    if ((await database.reader.checkFile()) !== 'ok')
      throw new StartError(EXIT.cannotWrite, damagedText(path, 'SQLITE_CORRUPT'))
  }
  await options.replicate?.()
  // What is in the file must also be stored at the replica before anybody sees it. Under a lease, the commit that records its epoch comes next.
  if (options.lease === undefined) await database.untilStored()
}

async function open({ log, replica, lease }: RunOptions, config: Config, clock: Clock): Promise<Database> {
  try {
    const progress = (step: UpgradeStep): void =>
      log.warn({ ...step }, 'the database is being upgraded: wait, and do not interrupt')
    const { database, litestream } = config
    const options = { ...database, litestream, log, clock, progress, ...(replica && { replica }) }
    return await openDatabase({ ...options, ...(lease && { epoch: lease.epoch }) })
  } catch (error) {
    if (error instanceof SchemaError) throw new StartError(EXIT.badConfig, error.message)
    if (diskFault(error) !== null) throw error
    throw new StartError(
      EXIT.cannotWrite,
      `Cannot open the database ${config.database.path ?? config.database.url}: ${error instanceof Error ? error.message : 'unknown error'}`,
    )
  }
}

/**
 * A log in which a fault of the storage is one line a minute, written by `storage`. While a disk is full, every job, timer and queue fails
 * again each second: those lines are written at level `debug`.
 */
function withoutRepeats(log: Log, storage: Storage | undefined): Log {
  const isRepeat = ({ error }: LogFields): boolean =>
    storage?.isReported === true && typeof error === 'string' && isStorageCode(error.split(' ').at(-1) ?? '')
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log[isRepeat(fields) ? 'debug' : 'warn'](fields, message),
    error: (fields, message) => log[isRepeat(fields) ? 'debug' : 'error'](fields, message),
    audit: (fields, message) => log.audit(fields, message),
  }
}
