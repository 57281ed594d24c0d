import { type Config, type ConfigResult, readConfig } from '../core/config.ts'
import { type Log, createLog } from '../core/log.ts'
import type { Environment } from '../core/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { protectFiles, socketPath, withRealPath } from '../db/data-folder.ts'
import { watchStored } from '../operator/lease/watch-stored.ts'
import { type LocalApp, serveOperator } from '../operator/socket.ts'
import { BackupProcess } from './backup-process.ts'
import type { RunOptions } from './open-gateway.ts'
import { type RunningGateway, runGateway } from './run.ts'
import { Shutdown } from './shutdown.ts'
import { type Holding, holdLease, release } from './standby/hold-lease.ts'
import { loneStart } from './standby/lone-start.ts'
import { greet, openDevelopment, prepareDevelopment } from './prepare.ts'
import { asStartError } from './start-failure.ts'
import { VERSION } from '../core/version.ts'

/** The process that the server runs in. `main.ts` and `sgw start` pass their own. */
export interface ServeOptions {
  environment: Environment
  /** Whether a person reads the output. */
  terminal: boolean
  /** Starts a gateway for tests, which has no limits and whose clock can be moved forward. */
  isTest: boolean
  exit(code: number): void
}

/** Runs the server until a signal arrives. Every end calls `exit` with one of the server's exit codes. */
export async function serve({ environment, terminal, isTest, exit }: ServeOptions): Promise<void> {
  const fail = (error: StartError): void => {
    process.stderr.write(`${error.message}\n`)
    exit(error.exitCode)
  }
  const result = await configOf(environment, terminal, isTest)
  if (!result.ok) return fail(new StartError(EXIT.badConfig, [...result.problems, ...result.warnings].join('\n')))
  const config = withRealPath(result.config)
  const log = createLog({ level: config.logLevel, format: config.logFormat, causes: !config.production })
  const shutdown = new Shutdown(log, exit)
  ignoreLogErrors()
  protectFiles()
  for (const warning of result.warnings) log.warn({}, warning)
  shutdown.onSignals()
  let backup: BackupProcess | null = null
  let holding: Holding | null = null
  try {
    backup = await BackupProcess.prepare(environment, config, log, (code) => void shutdown.withoutLitestream(code))
    if (config.standby && backup !== null) {
      holding = await holdLease(config, log, backup, shutdown)
      if (holding === null) return
      backup = holding.backup
    }
    const watch = config.standby ? null : await loneStart(config, environment, log, shutdown)
    await open(config, log, { isTest, terminal }, { backup, holding, shutdown })
    watch?.()
  } catch (error) {
    const known = await asStartError(error, config)
    if (!(known instanceof StartError)) throw known
    const { begun } = shutdown
    shutdown.state = 'draining'
    await backup?.end({ isLost: false, limitMs: MIN_LAST_COPY_MS })
    // The lease was taken, but opening failed.
    if (config.standby && !begun) await shutdown.end().catch(() => null)
    fail(known)
  }
}

interface Opening {
  backup: BackupProcess | null
  /** Null without `STANDBY`. */
  holding: Holding | null
  shutdown: Shutdown
}

/** Opens the gateway and starts its work. Errors: `StartError`. */
async function open(
  config: Config,
  log: Log,
  { isTest, terminal }: Pick<ServeOptions, 'isTest' | 'terminal'>,
  opening: Opening,
): Promise<void> {
  const { backup, holding, shutdown } = opening
  const options = { config, log, ...replicationOf(log, opening) }
  const development = config.provider.simulated ? await openDevelopment(options, isTest) : null
  const running = development?.running ?? (await runGateway(options))
  const prepared = Promise.withResolvers<void>()
  const operator = serveOperator(localApp(running, prepared.promise), socketPath(config.database.path ?? 'sgw.db'))
  shutdown.end = async () => {
    // Without Litestream, no result can be stored now, so the next holder looks up what happened.
    if (holding !== null && backup?.hasEnded === true) return release(holding.lease, log).then(() => null)
    const deadline = performance.now() + STOP_LIMIT_MS
    await Promise.all([operator.stop(), running.stop(development === null ? undefined : DEVELOPMENT_DRAIN_MS)])
    await development?.stopSimulator()
    const isLost = running.gateway.database.storage?.isLost === true
    const limitMs = Math.max(MIN_LAST_COPY_MS, deadline - performance.now())
    const problem = (await backup?.end({ isLost, limitMs })) ?? null
    if (holding === null) return problem
    await release(holding.lease, log)
    if (problem === null || isLost) return problem
    log.warn({ problem }, 'the last copy is incomplete, but has everything that was acknowledged')
    return null
  }
  log.info({ url: running.url, production: config.production, version: VERSION }, 'listening')
  warnOfPlainHttp(config, log)
  const facts = config.production ? null : await prepareDevelopment(running, development)
  await Bun.sleep(FIRST_RESPONSES_MS)
  running.work()
  if (!shutdown.begun) shutdown.state = 'active'
  if (holding !== null) keepLease(holding, running)
  if (holding !== null) log.info({ epoch: holding.lease.epoch }, 'active')
  // Commands are answered only from here on: before, the doctor would report that the server is not working.
  prepared.resolve()
  if (facts !== null || (config.production && !config.hasPublicUrl)) void greet(running, facts, terminal)
}

function warnOfPlainHttp({ production, plainHttpCidrs, host }: Config, log: Log): void {
  if (plainHttpCidrs.length === 0) return
  const ranges = plainHttpCidrs.join(', ')
  if (production) log.warn({ ranges }, PLAIN_HTTP_IS_READABLE)
  else log.warn({ ranges, host }, PLAIN_HTTP_CIDRS_IGNORED)
}

const PLAIN_HTTP_IS_READABLE =
  'plain HTTP is served to PLAIN_HTTP_CIDRS: anybody in these networks can read the keys and texts that are sent through them'
const PLAIN_HTTP_CIDRS_IGNORED =
  'PLAIN_HTTP_CIDRS has no effect in development: HOST alone decides who reaches this gateway; set NODE_ENV=production to let these networks in'

function keepLease({ lease }: Holding, { gateway }: RunningGateway): void {
  lease.noteWorking()
  void watchStored(lease, gateway.database)
}

function replicationOf(log: Log, { backup, holding }: Opening): Partial<RunOptions> {
  if (backup === null) return {}
  const { replica } = backup
  const replicate = { replicate: () => backup.start() }
  if (replica === null) return replicate
  if (holding === null) return { ...replicate, replica }
  const { lease, folderLock, stopListening } = holding
  return {
    replicate: async () => {
      log.info({ epoch: lease.epoch }, 'making the first copy')
      await backup.start(
        lease.hasWorked ? (reason) => lease.suspend(`the object storage refuses the first copy: ${reason}`) : null,
      )
      lease.noteCopy()
    },
    replica: { store: () => replica.store(), confirm: () => lease.check() },
    lease,
    folderLock,
    beforeListening: stopListening,
  }
}

/** Loading the modules of the jobs blocks the event loop for about 15 ms. Requests that waited for the start are answered first. */
const FIRST_RESPONSES_MS = 25

async function configOf(environment: Environment, terminal: boolean, isTest: boolean): Promise<ConfigResult> {
  if (!isTest) return readConfig(environment, terminal)
  const { readTestConfig } = await import('./development/test-mode.ts')
  return readTestConfig(environment, terminal)
}

/** The app of the operator's socket. Its modules are loaded by the first request, once the server works. */
function localApp({ gateway }: RunningGateway, prepared: Promise<void>): () => Promise<LocalApp> {
  let app: Promise<LocalApp> | null = null
  const load = async (): Promise<LocalApp> => {
    await prepared
    const { createLocalServer } = await import('./app.ts')
    return createLocalServer(gateway)
  }
  return () => (app ??= load())
}

/** A log that cannot be written (full disk, closed pipe) loses lines, but does not end the server. */
function ignoreLogErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/** Time for the whole stop, including the backup's last copy. Containers are killed after 10 s. */
const STOP_LIMIT_MS = 9500
const MIN_LAST_COPY_MS = 1000
/** If the simulator does not answer a call within this time, a developer has made it hang. */
const DEVELOPMENT_DRAIN_MS = 1000
