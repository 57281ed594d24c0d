import { CommanderError } from 'commander'
import { readConfig } from '../core/config.ts'
import type { Environment } from '../core/settings.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { withRealPath } from '../db/data-folder.ts'
import { type CliContext, CliError, requireSettings } from './context.ts'
import { createProgram } from './program.ts'

/** What a command gets from its process: the words after `sgw`, and its surroundings. */
export interface Surroundings extends Omit<CliContext, 'config' | 'problems' | 'json'> {
  words: readonly string[]
  readFile: Environment['readFile']
  /** Runs the server: `sgw start`. */
  start(isTest: boolean): Promise<void>
}

/** Runs one command of `sgw`, and returns its exit code. */
export async function runCommand(surroundings: Surroundings): Promise<number> {
  const { words, start, stdout, stderr } = surroundings
  const json = words.includes('--json')
  let context: CliContext | null = null
  const fail = (message: string): void => stderr(json ? jsonError(message) : `${message}\n`)
  try {
    // Commander prints usage errors itself, but not as JSON.
    const output = { writeOut: stdout, writeErr: json ? () => undefined : stderr }
    const program = createProgram((asJson) => (context ??= contextOf(surroundings, asJson)), start, output)
    await program.parseAsync(words, { from: 'user' })
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

function jsonError(error: string): string {
  return `${JSON.stringify({ error })}\n`
}

function contextOf({ words, readFile, start: _start, ...around }: Surroundings, json: boolean): CliContext {
  const command = commandName(words)
  const environment = { values: around.environment, readFile }
  const result = readConfig(needsClient(command) ? environment : withClient(environment), around.terminal)
  const problems = result.ok ? [] : result.problems
  const context = { ...around, json, problems, config: withRealPath(result.ok ? result.config : result.rest) }
  // These commands help to correct the environment.
  if (['secret', 'doctor'].includes(command)) return context
  // The entry point runs `sgw restore` before the server, and its supervisor must see the server's exit code.
  if (command === 'restore')
    requireSettings(context, undefined, words.includes('--check') ? EXIT.failure : EXIT.badConfig)
  // With another one, the command would reach another gateway.
  requireSettings(context, ['DATABASE_URL'])
  return context
}

/** Only these commands use or check the provider's client. All others ask the running server, or use its database. */
function needsClient(command: string): boolean {
  return ['doctor', 'restore'].includes(command)
}

/**
 * Fills in the provider's client where the environment lacks it, as a command's separate shell usually does: only the server needs the real
 * one.
 */
function withClient({ values, readFile }: Environment): Environment {
  const isProduction = values['NODE_ENV']?.trim() === 'production'
  const isIn = (name: string): boolean => [name, `${name}_FILE`].some((key) => (values[key]?.trim() ?? '') !== '')
  const missing = ['RC_CLIENT_ID', 'RC_CLIENT_SECRET'].filter((name) => isProduction && !isIn(name))
  return { values: { ...values, ...Object.fromEntries(missing.map((name) => [name, 'unknown'])) }, readFile }
}

/** The first word of the command line that is not an option. */
export const commandName = (words: readonly string[]): string => words.find((word) => !word.startsWith('-')) ?? ''
