import { readConfig } from './core/config.ts'
import { type Log, createLog } from './core/log.ts'
import type { Environment } from './core/settings.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { socketPath } from './data-folder.ts'
import type { OperatorContext } from './operator/context.ts'
import { serveOperator } from './operator/socket.ts'
import { type RunningGateway, runGateway } from './run.ts'
import type { Simulator } from './simulator/simulator.ts'

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
  // As early as can be: a parent that is gone when it is asked for would never be missed.
  const parent = process.ppid
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  const life: Life = { end: async () => {} }
  outliveLog()
  for (const warning of result.warnings) log.warn({}, warning)
  const stop = stopOnSignal(life, log, exit)
  try {
    const running = await runGateway({ config, log })
    const prepared = Promise.withResolvers<OperatorContext>()
    const operator = serveOperator(prepared.promise, socketPath(config.database.path ?? 'sgw.db'))
    life.end = async () => {
      await Promise.all([operator.stop(), running.stop()])
      if (config.litestream) await Bun.sleep(MIN_LIFE_MS - performance.now())
    }
    if (config.litestream) endWithParent(parent, log, stop)
    log.info({ url: running.url, production: config.production }, 'listening')
    const simulator = await welcome(running)
    await Bun.sleep(FIRST_ANSWERS_MS)
    running.work()
    // Not before: a command must not take a server that is about to work for one that does not.
    prepared.resolve({ gateway: running.gateway, simulator: simulator?.control ?? null })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    fail(error)
  }
}

/** Whoever waits for the start is answered before the workers load what they need, which holds the loop for some 15 ms. */
const FIRST_ANSWERS_MS = 25

/** In development, with the built-in simulator, everything that a first SMS needs is made and shown. */
async function welcome(running: RunningGateway): Promise<Simulator | null> {
  // Behind the listener: loading it is a tenth of the start.
  const simulator = await running.startSimulator()
  if (simulator === null) return null
  const { prepareDevelopment } = await import('./development/prepare.ts')
  process.stdout.write(await prepareDevelopment(running, simulator.control))
  return simulator
}

/** A full disk, or a reader that has gone away, takes the log's lines but not the server. */
function outliveLog(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

/** How to come to an end; before everything is open there is nothing to drain. */
interface Life {
  end(): Promise<void>
}

/** The first signal drains; a second one ends at once, which is safe: every state survives a crash. */
function stopOnSignal(life: Life, log: Log, exit: (code: number) => void): () => void {
  let stopping = false
  const stop = async (): Promise<void> => {
    if (stopping) return exit(EXIT.failure)
    stopping = true
    log.info({}, 'stopping')
    await life.end()
    exit(EXIT.stopped)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', oncePerKey(stop))
  return () => void stop()
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

/**
 * Litestream looks at the database for the first time a second after its start, then every second; if all ends before,
 * it copies nothing. Not a whole number of seconds: its last copy should not meet a regular one.
 */
const MIN_LIFE_MS = 2500
const PARENT_LOOK_MS = 1000

/** A gateway whose Litestream died would go on without a backup, its log growing: whoever supervises starts both anew. */
function endWithParent(parent: number, log: Log, stop: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    log.error({}, 'Litestream is gone: stopping, so that both are started again')
    stop()
  }, PARENT_LOOK_MS)
  timer.unref()
}
