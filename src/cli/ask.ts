import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { silentLog } from '../core/log.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { openDataFolder, sizeOf, socketPath } from '../data-folder.ts'
import type { CommandResult } from '../operator/run-command.ts'
import { type CliContext, CliError } from './context.ts'

const CommandAnswer = z.union([
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.string() }),
])

/** A server that starts or stops, or another command, holds the database for a moment without answering. */
const LOCKED_WAIT_MS = 10_000
const LOCKED_PAUSE_MS = 100
/** A server's very first start makes its database within that. */
const MISSING_WAIT_MS = 1000

/** Asks the running server; when none runs, opens the database itself, if the command can do without one. */
export async function ask(context: CliContext, command: string, input: unknown): Promise<unknown> {
  const startedAt = performance.now()
  for (;;) {
    const answer =
      (await askServer(context, command, input)) ??
      (await askFile(context, command, input, performance.now() - startedAt))
    if (answer?.ok === true) return answer.result
    if (answer !== null) throw new CliError(answer.error)
    await Bun.sleep(LOCKED_PAUSE_MS)
  }
}

const NO_SERVER_CODES = ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused']

/** Null when no server listens. */
async function askServer(context: CliContext, command: string, input: unknown): Promise<CommandResult | null> {
  const { path } = context.config.database
  if (path === null) return null
  try {
    const response = await fetch(`http://sgw/commands/${command}`, {
      unix: socketPath(path),
      method: 'POST',
      body: JSON.stringify(input),
    })
    return CommandAnswer.parse(await response.json())
  } catch (error) {
    if (isNoServer(error)) return null
    throw new CliError(`The server did not answer (${codeOf(error) || 'unknown error'}): is it stopping? Try again`)
  }
}

/** Whether a call to the server's socket failed because nobody listens there. */
export const isNoServer = (error: unknown): boolean => NO_SERVER_CODES.includes(codeOf(error))

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Null when it is too early to say that another process holds the database, or that there is none. What a server needs is only loaded here. */
async function askFile(
  context: CliContext,
  command: string,
  input: unknown,
  waitedMs: number,
): Promise<CommandResult | null> {
  const [{ COMMANDS }, { runCommand }, { asStartError, openGateway }] = await Promise.all([
    import('../operator/commands.ts'),
    import('../operator/run-command.ts'),
    import('../run.ts'),
  ])
  const needs = COMMANDS[command]?.needs
  if (needs === 'server') throw noServer()
  const path = resolve(context.config.database.path ?? '')
  const existed = isThere(path)
  await using stack = new AsyncDisposableStack()
  try {
    if (needs !== 'nothing' && !(await isThereOrHeld(path))) {
      if (waitedMs < MISSING_WAIT_MS) return null
      throw new CliError(`There is no database at ${path}: nothing was done. Is DATABASE_URL the server's?`)
    }
    const gateway = await openGateway({ config: context.config, log: silentLog, lockWaitMs: 0 }, stack)
    const answer = await runCommand({ gateway, simulator: null }, command, input, silentLog)
    context.stderr(noteOnFile(command, path, existed))
    return answer
  } catch (thrown) {
    const error = asStartError(thrown, context.config)
    if (!(error instanceof StartError)) throw error
    if (error.exitCode === EXIT.locked && waitedMs < LOCKED_WAIT_MS) return null
    throw new CliError(error.message)
  }
}

/** An empty file is no database: a restore takes it for a missing one, too. */
const isThere = (path: string): boolean => sizeOf(path) > 0

/** Errors: `StartError` where a server that is just making it, or another process, holds its place. */
async function isThereOrHeld(path: string): Promise<boolean> {
  if (!isThere(path) && existsSync(dirname(path))) (await openDataFolder(path, 0)).release()
  return isThere(path)
}

/** An empty database looks like a loss of everything, and nobody should take a stopped server for a running one. */
function noteOnFile(command: string, path: string, existed: boolean): string {
  if (!existed) return `There was no database at ${path}: an empty one was made\n`
  return command === 'status' ? 'No server answers: this is what its database says\n' : ''
}

export const noServer = (): CliError =>
  new CliError('No server answers: start one (sgw start, or bun run start) with the same environment', EXIT.noServer)
