import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { silentLog } from '../core/log.ts'
import { printable } from '../core/printable.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { openDataFolder, sizeOf, socketPath } from '../data-folder.ts'
import type { CommandResult } from '../operator/run-command.ts'
import { type CliContext, CliError } from './context.ts'

const CommandAnswer = z.union([
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.string() }),
])

/** How long to wait for a server that is starting or stopping, or for another command, that holds the database. */
const LOCKED_WAIT_MS = 10_000
const LOCKED_PAUSE_MS = 100
/** How long to wait for a server that is creating its database. */
const MISSING_WAIT_MS = 1000

/** Runs a command in the running server. If none runs, opens the database and runs it there, unless it needs a server. */
export async function ask(context: CliContext, command: string, input: unknown): Promise<unknown> {
  const startedAt = performance.now()
  for (;;) {
    const answer =
      (await askServer(context, command, input)) ??
      (await askFile(context, command, input, performance.now() - startedAt))
    if (answer?.ok === true) return answer.result
    if (answer !== null) throw new CliError(printable(answer.error))
    await Bun.sleep(LOCKED_PAUSE_MS)
  }
}

const NO_SERVER_CODES = ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused']

/** Null if no server listens. */
export async function askServer(context: CliContext, command: string, input: unknown): Promise<CommandResult | null> {
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

/** Whether a call to the server's socket failed because no server listens there. */
export const isNoServer = (error: unknown): boolean => NO_SERVER_CODES.includes(codeOf(error))

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/**
 * Runs the command on the database file. Null means: try again, because another process holds the database or is perhaps
 * just creating it. The modules of the gateway are loaded only here.
 */
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
  const existed = exists(path)
  await using stack = new AsyncDisposableStack()
  try {
    if (needs !== 'nothing' && !(await existsOrIsLocked(path))) {
      if (waitedMs < MISSING_WAIT_MS) return null
      throw new CliError(`There is no database at ${path}: nothing was done. Check that DATABASE_URL is the server's`)
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

/** Whether there is a database. An empty file counts as a missing one, as it does for a restore. */
const exists = (path: string): boolean => sizeOf(path) > 0

/** The same. Throws a `StartError` if another process, such as a server that is creating it, holds the lock of a missing database. */
async function existsOrIsLocked(path: string): Promise<boolean> {
  if (!exists(path) && existsSync(dirname(path))) (await openDataFolder(path, 0)).release()
  return exists(path)
}

/** Tells the operator that a database was created, or that `status` shows a database whose server does not run. */
function noteOnFile(command: string, path: string, existed: boolean): string {
  if (!existed) return `There was no database at ${path}: an empty one was created\n`
  return command === 'status' ? 'No server answers: these figures are from its database\n' : ''
}

export const noServer = (): CliError =>
  new CliError('No server answers: start one with the same environment (sgw start, or bun run start)', EXIT.noServer)
