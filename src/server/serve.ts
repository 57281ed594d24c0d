import { type ConfigResult, readConfig } from '../core/config.ts'
import { type Log, createLog, errorName } from '../core/log.ts'
import type { Environment } from '../core/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { protectFiles, socketPath, withRealPath } from '../db/data-folder.ts'
import type { Development } from './development/development.ts'
import { type LocalApp, serveOperator } from '../operator/socket.ts'
import { BackupProcess } from './backup-process.ts'
import type { RunOptions } from './open-gateway.ts'
import { type RunningGateway, runGateway } from './run.ts'
import { asStartError } from './start-failure.ts'
import { VERSION } from '../core/version.ts'

/** The process that the server runs in. `main.ts` and `sgw start` pass their own. */
export interface ServeOptions {
  environment: Environment
  /** Whether a person reads the output. */
  terminal: boolean
  /** Starts a gateway for tests, which has no limits and whose time can be moved forward. */
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
  const shutdown: Shutdown = { begun: false, end: async () => null }
  ignoreLogErrors()
  protectFiles()
  for (const warning of result.warnings) log.warn({}, warning)
  const stop = stopOnSignal(shutdown, log, exit)
  const withoutLitestream = (code: number): void => void endWithLitestream(code, shutdown, log, stop)
  let backup: BackupProcess | null = null
  try {
    backup = await BackupProcess.prepare(environment, config, log, withoutLitestream)
    const options = { config, log, ...replicationOf(backup) }
    const development = config.provider.simulated ? await openDevelopment(options, isTest) : null
    const running = development?.running ?? (await runGateway(options))
    const prepared = Promise.withResolvers<void>()
    const operator = serveOperator(localApp(running, prepared.promise), socketPath(config.database.path ?? 'sgw.db'))
    shutdown.end = async () => {
      const deadline = performance.now() + STOP_LIMIT_MS
      await Promise.all([operator.stop(), running.stop(development === null ? undefined : DEVELOPMENT_DRAIN_MS)])
      await development?.stopSimulator()
      const isLost = running.gateway.database.storage?.isLost === true
      return backup?.end({ isLost, limitMs: Math.max(MIN_LAST_COPY_MS, deadline - performance.now()) }) ?? null
    }
    log.info({ url: running.url, production: config.production, version: VERSION }, 'listening')
    if (!config.production) await prepareDevelopment(running, development)
    await Bun.sleep(FIRST_RESPONSES_MS)
    running.work()
    // Commands are answered only from here on: before, the doctor would report that the server is not working.
    prepared.resolve()
  } catch (error) {
    const known = await asStartError(error, config)
    if (!(known instanceof StartError)) throw known
    shutdown.begun = true
    await backup?.end({ isLost: false, limitMs: MIN_LAST_COPY_MS })
    fail(known)
  }
}

function replicationOf(backup: BackupProcess | null): Pick<RunOptions, 'replica' | 'replicate'> {
  if (backup === null) return {}
  return { replicate: () => backup.start(), ...(backup.replica && { replica: backup.replica }) }
}

/** Loading the modules of the jobs blocks the event loop for some 15 ms. Requests that waited for the start are answered first. */
const FIRST_RESPONSES_MS = 25

async function configOf(environment: Environment, terminal: boolean, isTest: boolean): Promise<ConfigResult> {
  if (!isTest) return readConfig(environment, terminal)
  const { readTestConfig } = await import('./development/test-mode.ts')
  return readTestConfig(environment, terminal)
}

/** Starts a gateway with the built-in simulator. */
async function openDevelopment(options: RunOptions, isTest: boolean): Promise<Development> {
  const development = await import('./development/development.ts')
  return development.openDevelopment({ ...options, isTest })
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

/** Prepares what a developer needs. A stop that comes meanwhile closes the database under it, which is no error. */
async function prepareDevelopment(running: RunningGateway, development: Development | null): Promise<void> {
  try {
    await logMessages(running)
    if (development === null) await prepareRealProvider(running)
    else await connectSimulator(development)
  } catch (error) {
    if (!running.gateway.lifecycle.draining) throw error
  }
}

/** Connects the simulator, and prints what a developer needs. */
async function connectSimulator(development: Development): Promise<void> {
  const { url } = await development.connect()
  const { banner } = await import('./development/banner.ts')
  process.stdout.write(banner(development, url))
}

/** In development each message leaves lines in the log. */
async function logMessages({ gateway }: RunningGateway): Promise<void> {
  const lines = await import('./development/message-lines.ts')
  lines.logMessages(gateway)
}

/** In development with RingCentral itself: makes and prints what a developer needs. */
async function prepareRealProvider(running: RunningGateway): Promise<void> {
  const real = await import('./development/real-provider.ts')
  process.stdout.write(await real.prepareRealProvider(running))
}

/** A log that cannot be written (full disk, closed pipe) loses lines, but does not end the server. */
function ignoreLogErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/** The whole stop, with the last copy of a backup. Containers are killed after 10 s. */
const STOP_LIMIT_MS = 9500
const MIN_LAST_COPY_MS = 1000
/** A call that the simulator does not answer within this time is one that a developer has made hang. */
const DEVELOPMENT_DRAIN_MS = 1000

/** How the server stops. `end` is replaced once everything is open; it resolves to a problem that the operator must know. */
interface Shutdown {
  begun: boolean
  end(): Promise<string | null>
}

/** Stops the server and exits with this code, or with 1 instead of 0 if the stop had a problem. */
type Stop = (code: number) => void

/** The first signal drains. A second one ends the process at once, which is safe: every state survives a crash. */
function stopOnSignal(shutdown: Shutdown, log: Log, exit: (code: number) => void): Stop {
  const stop = async (code: number): Promise<void> => {
    if (shutdown.begun) return exit(EXIT.failure)
    shutdown.begun = true
    log.info({}, 'stopping')
    const problem = await shutdown.end().catch(problemOf)
    if (problem !== null) process.stderr.write(`${problem}\n`)
    exit(code === EXIT.stopped && problem !== null ? EXIT.failure : code)
  }
  process.on('SIGTERM', () => void stop(EXIT.stopped))
  process.on(
    'SIGINT',
    ignoreRepetition(() => stop(EXIT.stopped)),
  )
  return (code) => void stop(code)
}

/** Without this, an error would end the process with a stack trace. */
const problemOf = (error: unknown): string =>
  `The stop failed (${errorName(error)}): what was accepted before is stored, unless the log says that the database is lost; see docs/damaged-database.md before you start again`

const SAME_KEY_MS = 250

/** A ^C reaches the server twice: from the terminal, and from the `bun run` or `npx` that started it. */
function ignoreRepetition(stop: () => Promise<void>): () => void {
  let lastAt = -Infinity
  return () => {
    const now = performance.now()
    if (now - lastAt < SAME_KEY_MS) return
    lastAt = now
    void stop()
  }
}

/** A signal to the whole process group ends Litestream too. It reaches the gateway within this time. */
const SAME_SIGNAL_MS = 250

/** Stops the gateway if Litestream ends by itself: otherwise it would run without a backup, and its log would grow. */
async function endWithLitestream(code: number, shutdown: Shutdown, log: Log, stop: Stop): Promise<void> {
  await Bun.sleep(SAME_SIGNAL_MS)
  if (shutdown.begun) return
  log.error({ code }, 'Litestream is gone: stopping, so that the supervisor starts both again')
  stop(code === EXIT.locked ? EXIT.locked : EXIT.unavailable)
}
