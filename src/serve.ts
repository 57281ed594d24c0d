import { readConfig } from './core/config.ts'
import { type Log, createLog } from './core/log.ts'
import type { Environment } from './core/settings.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { socketPath } from './data-folder.ts'
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
  if (!result.ok) return fail(new StartError(EXIT.badConfig, result.problems.join('\n')))
  const { config } = result
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  const life: Life = { end: async () => {} }
  stopOnSignal(life, log, exit)
  try {
    const running = await runGateway({ config, log })
    const operator = serveOperator({ gateway: running.gateway, simulator: running.simulator?.control ?? null }, socketPath(config.database.path ?? 'sgw.db'))
    life.end = async () => void (await Promise.all([operator.stop(), running.stop()]))
    log.info({ url: running.url, production: config.production }, 'listening')
    await welcome(running)
    running.work()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    fail(error)
  }
}

/** In development, with the built-in simulator, everything that a first SMS needs is made and shown. */
async function welcome(running: RunningGateway): Promise<void> {
  if (running.simulator === null) return
  const { prepareDevelopment } = await import('./development/prepare.ts')
  process.stdout.write(await prepareDevelopment(running, running.simulator))
}

/** How to come to an end; before everything is open there is nothing to drain. */
interface Life {
  end(): Promise<void>
}

/** The first signal drains; a second one ends at once, which is safe: every state survives a crash. */
function stopOnSignal(life: Life, log: Log, exit: (code: number) => void): void {
  let stopping = false
  const stop = async (): Promise<void> => {
    if (stopping) return exit(EXIT.failure)
    stopping = true
    log.info({}, 'stopping')
    await life.end()
    exit(EXIT.stopped)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}
