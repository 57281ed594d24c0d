import { ApiError, errorText, type ErrorName } from '../core/errors.ts'
import { type Log, errorName } from '../core/log.ts'
import { damageOf } from '../db/gate.ts'
import { COMMANDS } from './commands.ts'
import type { OperatorContext } from './context.ts'

export type CommandResult = { ok: true; result: unknown } | { ok: false; error: string }

/** Runs a command by name. Every failure becomes a sentence for the operator. */
export async function runCommand(
  context: OperatorContext,
  name: string,
  input: unknown,
  log: Log,
): Promise<CommandResult> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined)
    return { ok: false, error: `There is no command ${name}: the server may be older than this program` }
  const parsed = command.input.safeParse(input)
  if (!parsed.success) return { ok: false, error: sentence(parsed.error.issues[0]?.message ?? 'Invalid input') }
  try {
    return { ok: true, result: await command.run(context, parsed.data) }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, error: `${error.message}${HINTS[error.message] ?? ''}` }
    log.error({ command: name, error: errorName(error) }, 'command failed')
    const damage = damageOf(error, context.gateway.config.database.path ?? '')
    if (damage !== null) return { ok: false, error: damage }
    return { ok: false, error: `The command failed (${errorName(error)}): see the log` }
  }
}

/** Advice for errors whose texts the API fixes. */
const HINTS: Readonly<Record<string, string>> = {
  [errorText('appActive')]: ': sgw app rotate-key APP gives it a new key',
}

/** The text of a validation error. Schemas that the API shares have the name of an error as their message. */
function sentence(message: string): string {
  try {
    return errorText(message as ErrorName)
  } catch {
    return message
  }
}
