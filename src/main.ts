#!/usr/bin/env bun
import { readFileSync } from 'node:fs'
import { readConfig } from './core/config.ts'
import { createLog } from './core/log.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { socketPath } from './data-folder.ts'
import { serveOperator } from './operator/socket.ts'
import { type RunningGateway, runGateway } from './run.ts'

await main()

async function main(): Promise<void> {
  const result = readConfig({ values: process.env, readFile: (path) => readFileSync(path, 'utf8') }, process.stdout.isTTY)
  if (!result.ok) return fail(new StartError(EXIT.badConfig, result.problems.join('\n')))
  const { config } = result
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  try {
    const running = await runGateway({ config, log })
    const operator = serveOperator(running.gateway, socketPath(config.database.path ?? 'sgw.db'))
    stopOnSignal(running, () => operator.stop())
    log.info({ url: running.url, production: config.production }, 'listening')
    await welcome(running)
    running.work()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    fail(error)
  }
}

function fail(error: StartError): void {
  process.stderr.write(`${error.message}\n`)
  process.exit(error.exitCode)
}

/** In development, with the built-in simulator, everything that a first SMS needs is made and shown. */
async function welcome(running: RunningGateway): Promise<void> {
  if (running.simulator === null) return
  const { prepareDevelopment } = await import('./development/prepare.ts')
  process.stdout.write(await prepareDevelopment(running, running.simulator))
}

/** The first signal drains; a second one ends at once, which is safe: every state survives a crash. */
function stopOnSignal(running: RunningGateway, stopOperator: () => Promise<void>): void {
  let stopping = false
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(EXIT.failure)
    stopping = true
    running.gateway.log.info({}, 'stopping')
    await stopOperator()
    await running.stop()
    process.exit(EXIT.stopped)
  }
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
}
