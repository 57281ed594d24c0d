#!/usr/bin/env bun
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { CommanderError } from 'commander'
import { readConfig } from './core/config.ts'
import { exemptThisMachine } from './core/proxy.ts'
import type { Environment } from './core/settings.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { protectFiles, withRealPath } from './db/data-folder.ts'
import { type CliContext, CliError } from './cli/context.ts'
import { printFindings } from './cli/print.ts'
import { createProgram } from './cli/program.ts'
import { finding } from './operator/finding.ts'

/** Exit code of a command whose reader has left, as if SIGPIPE had ended it. */
const READER_LEFT = 141

process.exitCode = await main(process.argv)

async function main(argv: string[]): Promise<number> {
  protectFiles()
  exemptThisMachine(process.env)
  endWithReader()
  const json = argv.includes('--json')
  const fail = (message: string): void => void process.stderr.write(json ? jsonError(message) : `${message}\n`)
  try {
    // Commander prints usage errors itself, but not as JSON.
    await createProgram(makeContext, start, json ? () => undefined : null).parseAsync(argv)
    return EXIT.stopped
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.stopped
      if (json) fail(error.message.replace(/^error: /, '').replace('\n', ' '))
      return EXIT.usage
    }
    // A file that the command itself needs.
    if (error instanceof StartError) return (fail(error.message), EXIT.failure)
    if (!(error instanceof CliError)) throw error
    if (error.message !== '') fail(error.message)
    return error.exitCode
  }
}

/** Ends a command whose reader has left, as in `sgw messages list | head -1`. A server goes on without its log. */
function endWithReader(): void {
  if (commandName() === 'start') return
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(READER_LEFT)
    })
}

function jsonError(error: string): string {
  return `${JSON.stringify({ error })}\n`
}

/** Runs `sgw start`. Resolves when the server listens; the process then runs until a signal. */
async function start(isTest: boolean): Promise<void> {
  const { serve } = await import('./server/serve.ts')
  return serve({
    environment: environment(),
    terminal: process.stdout.isTTY,
    isTest,
    exit: (code) => process.exit(code),
  })
}

function makeContext(json: boolean): CliContext {
  const context = {
    json,
    environment: process.env,
    terminal: process.stdout.isTTY,
    columns: process.stdout.isTTY ? process.stdout.columns || 80 : null,
    showsProgress: process.stderr.isTTY,
    prompt: process.stdin.isTTY && process.stderr.isTTY ? prompt : null,
    stdin: process.stdin.isTTY ? null : process.stdin,
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
  }
  const result = readConfig(needsClient(commandName()) ? environment() : withClient(), process.stdout.isTTY)
  if (result.ok) return { ...context, config: withRealPath(result.config) }
  return handleBadConfig(context, commandName(), result)
}

/** Only these use or judge the provider's client. All others ask the running server, or read and write its database. */
function needsClient(command: string): boolean {
  return ['doctor', 'restore'].includes(command)
}

/** The environment, where another process has the provider's client: a command in a shell of its own seldom has it. */
function withClient(): Environment {
  const { values, readFile } = environment()
  const isProduction = values['NODE_ENV']?.trim() === 'production'
  const isIn = (name: string): boolean => [name, `${name}_FILE`].some((key) => (values[key]?.trim() ?? '') !== '')
  const missing = ['RC_CLIENT_ID', 'RC_CLIENT_SECRET'].filter((name) => isProduction && !isIn(name))
  return { values: { ...values, ...Object.fromEntries(missing.map((name) => [name, 'unknown'])) }, readFile }
}

/** Handles a configuration that is not valid. `secret` and `doctor` work all the same, because they help to correct it. */
function handleBadConfig(
  context: Omit<CliContext, 'config'>,
  command: string,
  { problems, warnings }: { problems: string[]; warnings: string[] },
): CliContext {
  const fallback = readConfig({ values: {}, readFile: () => '' })
  if (!fallback.ok) throw new CliError(fallback.problems.join('\n'))
  const fallbackContext = { ...context, config: fallback.config }
  if (command === 'secret') return fallbackContext
  if (command === 'doctor') {
    printFindings(fallbackContext, [
      ...problems.map((detail) => finding('configuration', 'fail', detail)),
      ...warnings.map((detail) => finding('configuration', 'warn', detail)),
    ])
    throw new CliError('')
  }
  // The entry point runs `sgw restore` before the server, and its supervisor must see the server's exit code.
  const starts = command === 'restore' && !process.argv.includes('--check')
  throw new CliError(problems.join('\n'), starts ? EXIT.badConfig : EXIT.failure)
}

/** Asks on standard error, because standard output is for the result only. */
async function prompt(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}

/** The first word of the command line that is no option. */
function commandName(): string {
  return process.argv.slice(2).find((word) => !word.startsWith('-')) ?? ''
}

function environment(): Environment {
  return { values: process.env, readFile: (path: string) => readFileSync(path, 'utf8') }
}
