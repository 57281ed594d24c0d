import { atMost } from '../core/at-most.ts'
import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { codeOf } from '../core/error-code.ts'
import type { Config } from '../core/config.ts'
import { createIds } from '../core/ids.ts'
import { type Log, errorName } from '../core/log.ts'
import { type Meter, noMeter } from '../core/meter.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { describeLost } from '../auth/lost-keys.ts'
import { forgetOperators } from '../auth/operator-sessions.ts'
import { authenticateSocket } from '../api/ws/authenticate.ts'
import { dataFolder, encryptionKeys, openDataFolder, sizeOf } from '../db/data-folder.ts'
import { type Database, type UpgradeStep, openDatabase } from '../db/database.ts'
import { lockDatabase } from '../db/database-file.ts'
import { refusalOfForeignLog } from '../db/foreign-log.ts'
import { damageOf, isBusy, isStorageCode } from '../db/gate.ts'
import { SchemaError } from '../db/migrate.ts'
import { traceOfDatabase } from '../db/lost-database.ts'
import { refusalOfReplaced } from '../db/replaced-database.ts'
import { openRestoreMark } from '../db/restore-mark.ts'
import { withoutRepeats } from '../db/storage-log.ts'
import { type Gateway, type GatewayParts, buildGateway } from '../messages/gateway.ts'
import { startListening, stopListening, urlHost } from '../api/http/listener.ts'
import type { Timers } from '../messages/jobs/timers.ts'
import { createRingCentral } from '../provider/ringcentral/client.ts'
import { recover, registerJobs, startTimers } from './worker.ts'
import { VERSION } from '../core/version.ts'

export interface RunOptions {
  config: Config
  log: Log
  clock?: Clock
  /** How long to wait for the database's lock. */
  lockWaitMs?: number
  /** Counts calls and webhook POSTs. */
  meter?: Meter
  /** Prepares the gateway before the listener opens. */
  prepare?(gateway: Gateway): Promise<void>
}

/** A gateway that accepts requests. */
export interface RunningGateway {
  gateway: Gateway
  /** Base address of the listener, without a trailing slash. */
  url: string
  /** Base address of the admin listener, where there is one. */
  adminUrl: string | null
  /** Starts jobs and timers, unless the gateway is stopping. Until then messages are accepted but not sent. */
  work(): void
  /** Waits up to `drainMs` (7 s by default) for what is running, then closes everything, which takes 1.5 s at most. */
  stop(drainMs?: number): Promise<void>
}

const LOCK_WAIT_MS = 30_000
const DRAIN_MS = 7000
const CLOSE_MS = 1500

/** Opens everything, in order: lock, database, provider, recovery, listener. Errors: `StartError`. */
export async function runGateway(options: RunOptions): Promise<RunningGateway> {
  const stack = new AsyncDisposableStack()
  try {
    return await start(options, stack)
  } catch (error) {
    await stack.disposeAsync().catch(() => undefined)
    throw await asStartError(error, options.config)
  }
}

/** Turns an error of a damaged database or a full disk, which can occur at any step, into a `StartError`. Returns others unchanged. */
export async function asStartError(error: unknown, { database: { path, url } }: Config): Promise<unknown> {
  const damage = damageOf(error, path ?? url)
  if (damage !== null) {
    const replaced = path === null ? null : await refusalOfReplaced(path, null)
    return replaced === null ? new StartError(EXIT.cannotWrite, damage) : new StartError(EXIT.badConfig, replaced)
  }
  const code = diskFault(error)
  if (code === null) return error
  const folder = dataFolder(path ?? '.')
  return new StartError(
    EXIT.cannotWrite,
    `Cannot write in ${folder} (${code}): free some space, or check the disk and who may write there, then start again`,
  )
}

/** The code of an error that only a person can end, such as of a full disk; null for other errors. */
function diskFault(error: unknown): string | null {
  const code = codeOf(error) ?? ''
  return isStorageCode(code) && !isBusy(error) ? code : null
}

/** Builds a gateway without listener, jobs or timers: for the server, and for commands that run without one. */
export async function openGateway(options: RunOptions, stack: AsyncDisposableStack): Promise<Gateway> {
  const { log, clock = systemClock, meter = noMeter } = options
  const config = { ...options.config }
  const path = config.database.path ?? 'sgw.db'
  // A supervisor may start the next process before the last one has ended. A developer wants to know at once.
  const { lockWaitMs = config.production ? LOCK_WAIT_MS : 0 } = options
  const noteWait = (): void => log.warn({}, 'another process uses the database: waiting for it to end')
  const lock = await openDataFolder(path, lockWaitMs, noteWait)
  stack.defer(() => lock.release())
  refuseLost(config, path)
  const foreign = refusalOfForeignLog(path)
  // Litestream has kept the log at a stop that saved a copy.
  if (foreign !== null) throw new StartError(EXIT.badConfig, (await refusalOfReplaced(path, null)) ?? foreign)
  const fileLock = await lockDatabase(path, lockWaitMs, noteWait)
  stack.defer(() => fileLock.release())
  const keys = encryptionKeys(config)
  const database = await open(config, log, clock)
  stack.defer(() => database.close())
  const replaced = await refusalOfReplaced(path, database.gate)
  if (replaced !== null) throw new StartError(EXIT.badConfig, replaced)
  const ids = createIds()
  const fresh = { incarnation: ids.of('boot'), now: clock.now() }
  const { restoreMark, restored } = await openRestoreMark(database.gate, `${path}.mark`, fresh).catch(
    (error: unknown) => {
      if (damageOf(error, path) !== null || error instanceof StartError) throw error
      throw new StartError(
        EXIT.cannotWrite,
        `Cannot mark the database in ${path}.mark (${errorName(error)}): check that both belong to this user, and that the disk has space`,
      )
    },
  )
  stack.defer(() => restoreMark.close())
  if (restored) {
    await forgetOperators(database.orm)
    log.warn(
      {},
      'this database was restored from a backup: each waiting message is looked up at the provider before it is sent',
    )
  }
  const provider = createRingCentral({
    ...config.provider,
    timeoutMs: config.providerTimeoutMs,
    userAgent: `sgw/${VERSION}`,
    now: () => clock.now(),
    steady: () => clock.steady(),
  })
  const parts: Omit<GatewayParts, 'provider'> = {
    config,
    encryptionKeys: keys,
    clock,
    ids,
    log: withoutRepeats(log, database.storage),
    database,
    bootId: ids.of('boot'),
    restoreMark,
    meter,
    authenticateSocket,
  }
  return buildGateway({ ...parts, provider })
}

async function start(options: RunOptions, stack: AsyncDisposableStack): Promise<RunningGateway> {
  const { adminPort } = options.config
  const admin = adminPort === null ? null : await loadAdmin()
  const meter = admin === null ? {} : { meter: admin.metrics.meter }
  const gateway = await openGateway({ ...options, ...meter }, stack)
  if (gateway.database.migrated.length > 0)
    gateway.log.info({ migrations: gateway.database.migrated.join(', ') }, 'database is up to date')
  registerJobs(gateway)
  await refuseOtherKeys(gateway)
  await recover(gateway)
  await options.prepare?.(gateway)
  const { createHttpServer } = await import('./app.ts')
  const app = createHttpServer(gateway)
  stack.defer(startListening(gateway, app))
  // The tokens stop after the listener, so that a refresh that hangs does not delay the last responses.
  stack.defer(() => gateway.tokens.stop())
  stack.defer(() => stopListening(app))
  const adminListener = admin?.listen(gateway, adminPort ?? 0) ?? null
  if (adminListener !== null) stack.defer(() => adminListener.stop())
  const { port } = gateway.config
  let timers: Timers | null = null
  return {
    gateway,
    url: `http://${urlHost(gateway.config.host)}:${port}`,
    adminUrl: adminListener?.url ?? null,
    work: () => {
      // A signal may have arrived already.
      if (gateway.lifecycle.draining) return
      gateway.jobs.start()
      gateway.sending.start()
      timers = startTimers(gateway)
      gateway.lifecycle.working = true
    },
    stop: (drainMs = DRAIN_MS) => drain(gateway, stack, drainMs, () => timers?.stop()),
  }
}

/** Errors: `StartError` if no stored secret can be decrypted. A start that goes on with some of them logs which. */
async function refuseOtherKeys({ lostKeys, config, log }: Gateway): Promise<void> {
  const lost = await lostKeys.check()
  if (lost === null) return
  if (lost.isEvery && !config.allowNewKeys) throw new StartError(EXIT.badConfig, describeLost(lost))
  log.error({}, describeLost(lost))
}

/** Loads the metrics library only if ADMIN_PORT is set. */
async function loadAdmin() {
  const [{ createMetrics }, { startAdmin }] = await Promise.all([
    import('../operator/metrics/metrics.ts'),
    import('../operator/metrics/listener.ts'),
  ])
  const metrics = createMetrics()
  return { metrics, listen: (gateway: Gateway, port: number) => startAdmin(gateway, metrics, port) }
}

/** Refuses a missing database where there was one, or where one must be. */
function refuseLost({ requireRestore }: Config, path: string): void {
  if (sizeOf(path) > 0) return
  if (requireRestore)
    throw new StartError(
      EXIT.badConfig,
      `REQUIRE_RESTORE is set and ${path} is missing: run sgw restore; for the very first start, unset REQUIRE_RESTORE`,
    )
  const trace = traceOfDatabase(path)
  if (trace !== null) throw new StartError(EXIT.badConfig, trace)
}

async function open(config: Config, log: Log, clock: Clock): Promise<Database> {
  try {
    const progress = (step: UpgradeStep): void =>
      log.warn({ ...step }, 'the database is being upgraded: wait, and do not interrupt')
    return await openDatabase({ ...config.database, litestream: config.litestream, log, clock, progress })
  } catch (error) {
    if (error instanceof SchemaError) throw new StartError(EXIT.badConfig, error.message)
    if (diskFault(error) !== null) throw error
    throw new StartError(
      EXIT.cannotWrite,
      `Cannot open the database ${config.database.path ?? config.database.url}: ${error instanceof Error ? error.message : 'unknown error'}`,
    )
  }
}

/** Takes no new work, waits for what is running, then closes everything in reverse order. */
async function drain(
  gateway: Gateway,
  stack: AsyncDisposableStack,
  drainMs: number,
  stopTimers: () => Promise<void> | undefined,
): Promise<void> {
  gateway.lifecycle.draining = true
  gateway.sockets.closeAll()
  // One that rejects, because the database cannot be read, must not keep the others from closing.
  const idle = Promise.allSettled([gateway.sending.stop(), gateway.jobs.stop(), stopTimers(), gateway.receipts.stop()])
  await atMost(drainMs, idle)
  gateway.poster.endAll()
  await atMost(CLOSE_MS, stack.disposeAsync())
}
