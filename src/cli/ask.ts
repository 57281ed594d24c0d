import { z } from 'zod'
import { silentLog } from '../core/log.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { socketPath } from '../data-folder.ts'
import { COMMANDS } from '../operator/commands.ts'
import { type CommandResult, runCommand } from '../operator/run-command.ts'
import { openGateway } from '../run.ts'
import { type CliContext, CliError } from './context.ts'

const CommandAnswer = z.union([
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), error: z.string() }),
])

/** Asks the running server; when none runs, opens the database itself, if the command can do without one. */
export async function ask(context: CliContext, command: string, input: unknown): Promise<unknown> {
  const answer = (await askServer(context, command, input)) ?? (await askFile(context, command, input))
  if (!answer.ok) throw new CliError(answer.error)
  return answer.result
}

const NO_SERVER_CODES = ['ENOENT', 'ECONNREFUSED', 'FailedToOpenSocket', 'ConnectionRefused']

/** Null when no server listens. */
export async function askServer(context: CliContext, command: string, input: unknown): Promise<CommandResult | null> {
  const { path } = context.config.database
  if (path === null) return null
  try {
    const response = await fetch(`http://sgw/commands/${command}`, { unix: socketPath(path), method: 'POST', body: JSON.stringify(input) })
    return CommandAnswer.parse(await response.json())
  } catch (error) {
    if (isNoServer(error)) return null
    throw new CliError(`The server did not answer (${codeOf(error) || 'unknown error'}): is it stopping? Try again`)
  }
}

/** Whether a call to the server's socket failed because nobody listens there. */
export const isNoServer = (error: unknown): boolean => NO_SERVER_CODES.includes(codeOf(error))

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

async function askFile(context: CliContext, command: string, input: unknown): Promise<CommandResult> {
  if (COMMANDS[command]?.needsServer === true) throw noServer()
  await using stack = new AsyncDisposableStack()
  try {
    const { gateway } = await openGateway({ config: context.config, log: silentLog, lockWaitMs: 0, simulator: false }, stack)
    return await runCommand({ gateway, simulator: null }, command, input, silentLog)
  } catch (error) {
    if (error instanceof StartError) throw new CliError(error.message, error.exitCode === EXIT.locked ? EXIT.failure : error.exitCode)
    throw error
  }
}

export const noServer = (): CliError => new CliError('No server answers: start one with bun run start, with the same environment', EXIT.noServer)
