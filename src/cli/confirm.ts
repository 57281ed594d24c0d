import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

/**
 * Asks before a step that cannot be undone. `--yes` skips the question. Fails without a terminal and without `--yes`. `line`: the words of the
 * command, to show it with `--yes`.
 */
export async function confirm(
  context: CliContext,
  yes: boolean,
  question: string,
  line: readonly string[] = [],
): Promise<void> {
  if (yes) return
  const whole = line.length === 0 ? '' : `:\n  ${[...line, '--yes'].join(' ')}`
  if (context.prompt === null)
    throw new CliError(`Nothing was done: without a terminal this needs --yes${whole}`, EXIT.usage)
  const answer = await context.prompt(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was done')
}
