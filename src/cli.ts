#!/usr/bin/env bun
import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'
import { readConfig } from './core/config.ts'
import { EXIT } from './core/start-error.ts'
import { type CliContext, CliError } from './cli/context.ts'
import { printFindings } from './cli/print.ts'
import { createProgram } from './cli/program.ts'
import { finding } from './operator/finding.ts'

process.exitCode = await main(process.argv)

async function main(argv: string[]): Promise<number> {
  try {
    await createProgram(makeContext, start).parseAsync(argv)
    return EXIT.stopped
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.stopped : EXIT.usage
    if (!(error instanceof CliError)) throw error
    if (error.message !== '') process.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}

/** `sgw start`: settles when the server listens; the process ends by a signal. */
async function start(): Promise<void> {
  const { serve } = await import('./serve.ts')
  return serve({ environment: environment(), terminal: process.stdout.isTTY, exit: (code) => process.exit(code) })
}

function makeContext(json: boolean): CliContext {
  const context = {
    json,
    environment: process.env,
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  }
  const result = readConfig(environment(), process.stdout.isTTY)
  if (result.ok) return { ...context, config: result.config }
  return refuse(context, argvNames(), result.problems)
}

/** The doctor and the key maker must help those whose configuration is not right yet. */
function refuse(context: Omit<CliContext, 'config'>, command: string, problems: string[]): CliContext {
  const fallback = readConfig({ values: {}, readFile: () => '' })
  if (!fallback.ok) throw new CliError(fallback.problems.join('\n'))
  const whole = { ...context, config: fallback.config }
  if (command === 'secret') return whole
  if (command === 'doctor') {
    printFindings(
      whole,
      problems.map((detail) => finding('configuration', 'fail', detail)),
    )
    throw new CliError('')
  }
  throw new CliError(problems.join('\n'))
}

function argvNames(): string {
  return process.argv.slice(2).find((word) => !word.startsWith('-')) ?? ''
}

function environment() {
  return { values: process.env, readFile: (path: string) => readFileSync(path, 'utf8') }
}
