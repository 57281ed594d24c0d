import { resolve } from 'node:path'
import { type Replication, prepareReplication } from './backup/replication.ts'
import { readBackupSettings, regionWarning } from './backup/settings.ts'
import { type Config, readConfig } from './core/config.ts'
import { type Log, createLog } from './core/log.ts'
import type { Environment } from './core/settings.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { socketPath } from './data-folder.ts'
import type { SimulatedProvider } from './development/simulated-provider.ts'
import type { OperatorContext } from './operator/context.ts'
import { serveOperator } from './operator/socket.ts'
import { type RunningGateway, runGateway } from './run.ts'

/** The process around a server: `main.ts` and `sgw start` hand in their own. */
export interface ServeOptions {
  environment: Environment
  /** Whether a person reads the output. */
  terminal: boolean
  exit(code: number): void
}

/** Serves until a signal comes. Whatever ends it goes through `exit`, with the server's exit codes. */
export async function serve({ environment, terminal, exit }: ServeOptions): Promise<void> {
  const fail = (error: StartError): void => {
    process.stderr.write(`${error.message}\n`)
    exit(error.exitCode)
  }
  const result = readConfig(environment, terminal)
  if (!result.ok) return fail(new StartError(EXIT.badConfig, [...result.problems, ...result.warnings].join('\n')))
  const { config } = result
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  const life: Life = { ending: false, end: async () => null }
  outliveLog()
  for (const warning of result.warnings) log.warn({}, warning)
  const stop = stopOnSignal(life, log, exit)
  try {
    const startReplication = config.litestream ? await prepareBackup(environment, config, log) : () => null
    const provider = await simulatedProvider(config)
    const running = await runGateway({ config: provider?.config ?? config, log })
    const prepared = Promise.withResolvers<OperatorContext>()
    const operator = serveOperator(prepared.promise, socketPath(config.database.path ?? 'sgw.db'))
    // Not before: configuration, database and port are known to be good.
    const replication = startReplication()
    life.end = async () => {
      const deadline = performance.now() + STOP_LIMIT_MS
      await Promise.all([operator.stop(), running.stop()])
      await provider?.stop()
      return replication?.finish(Math.max(MIN_LAST_COPY_MS, deadline - performance.now())) ?? null
    }
    void replication?.ended.then((code) => endWithLitestream(code, life, log, stop))
    log.info({ url: running.url, production: config.production }, 'listening')
    const simulator = provider === null ? null : await welcome(running, provider)
    await Bun.sleep(FIRST_ANSWERS_MS)
    running.work()
    // Not before: a command must not take a server that is about to work for one that does not.
    prepared.resolve({ gateway: running.gateway, simulator })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    fail(error)
  }
}

/** Whoever waits for the start is answered before the workers load what they need, which holds the loop for some 15 ms. */
const FIRST_ANSWERS_MS = 25

/** In development, with the built-in simulator, everything that a first SMS needs is made and shown. */
async function welcome(running: RunningGateway, provider: SimulatedProvider): Promise<OperatorContext['simulator']> {
  // Behind the listener: loading it is a tenth of the start.
  const { control } = await provider.start(running.gateway.clock)
  const { prepareDevelopment } = await import('./development/prepare.ts')
  process.stdout.write(await prepareDevelopment(running, control))
  return control
}

/** In development without a provider's account. */
async function simulatedProvider(config: Config): Promise<SimulatedProvider | null> {
  if (!config.provider.simulated) return null
  const { simulateProvider } = await import('./development/simulated-provider.ts')
  return simulateProvider(config)
}

/** A full disk, or a reader that has gone away, takes the log's lines but not the server. */
function outliveLog(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/** With the last copy of a backup it takes less than the 10 s that containers are given. */
const STOP_LIMIT_MS = 9500
const MIN_LAST_COPY_MS = 1000

/** How to come to an end; before everything is open there is nothing to drain. Answers what an operator must know. */
interface Life {
  ending: boolean
  end(): Promise<string | null>
}

/** Ends the server with this exit code; instead of 0 with 1 when its end was not clean. */
type Stop = (code: number) => void

/** The first signal drains; a second one ends at once, which is safe: every state survives a crash. */
function stopOnSignal(life: Life, log: Log, exit: (code: number) => void): Stop {
  const stop = async (code: number): Promise<void> => {
    if (life.ending) return exit(EXIT.failure)
    life.ending = true
    log.info({}, 'stopping')
    const problem = await life.end()
    if (problem !== null) process.stderr.write(`${problem}\n`)
    exit(code === EXIT.stopped && problem !== null ? EXIT.failure : code)
  }
  process.on('SIGTERM', () => void stop(EXIT.stopped))
  process.on(
    'SIGINT',
    oncePerKey(() => stop(EXIT.stopped)),
  )
  return (code) => void stop(code)
}

const SAME_KEY_MS = 250

/** A ^C reaches the server from the terminal, and once more from the `bun run` or `npx` above it. */
function oncePerKey(stop: () => Promise<void>): () => void {
  let lastAt = -Infinity
  return () => {
    const now = performance.now()
    if (now - lastAt < SAME_KEY_MS) return
    lastAt = now
    void stop()
  }
}

async function prepareBackup(environment: Environment, { database }: Config, log: Log): Promise<() => Replication> {
  // The entry point of release 1.0.0 sets it, and has started a Litestream of its own.
  if ((environment.values['LITESTREAM_DATABASE'] ?? '') !== '')
    throw new StartError(
      EXIT.badConfig,
      'LITESTREAM_DATABASE is set: install the entry point (deploy/entrypoint.sh) and litestream.yml of this release; the gateway now sets it itself',
    )
  const settings = readBackupSettings(environment, resolve(database.path ?? 'sgw.db'))
  const warning = regionWarning(settings)
  if (warning !== null) log.warn({}, warning)
  return prepareReplication(settings)
}

/** A signal that goes to Litestream as well reaches the gateway no later than this. */
const SAME_SIGNAL_MS = 250

/** A gateway whose Litestream died would go on without a backup, its log growing: the supervisor starts both again. */
async function endWithLitestream(code: number, life: Life, log: Log, stop: Stop): Promise<void> {
  await Bun.sleep(SAME_SIGNAL_MS)
  if (life.ending) return
  log.error({ code }, 'Litestream is gone: stopping, so that both are started again')
  stop(code === EXIT.locked ? EXIT.locked : EXIT.unavailable)
}
