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
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (NO_SERVER_CODES.includes(code)) return null
    throw new CliError(`The server did not answer (${code || 'unknown error'}): is it stopping? Try again`)
  }
}

async function askFile(context: CliContext, command: string, input: unknown): Promise<CommandResult> {
  if (COMMANDS[command]?.needsServer === true) throw noServer()
  await using stack = new AsyncDisposableStack()
  const config = { ...context.config, provider: { ...context.config.provider, simulated: false } }
  try {
    const { gateway } = await openGateway({ config, log: silentLog, lockWaitMs: 0 }, stack)
    return await runCommand(gateway, command, input, silentLog)
  } catch (error) {
    if (error instanceof StartError) throw new CliError(error.message, error.exitCode === EXIT.locked ? EXIT.failure : error.exitCode)
    throw error
  }
}

export const noServer = (): CliError => new CliError('No server answers: start one with bun run start, with the same environment', EXIT.noServer)
