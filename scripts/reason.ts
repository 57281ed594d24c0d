import { $ } from 'bun'

/** Why a build ended: the message of an error, with what the bundler or a program said. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const causes = error instanceof AggregateError ? error.errors.map(String) : []
  const output = error instanceof $.ShellError ? [error.stderr.toString().trim()] : []
  return [message, ...causes, ...output].join('\n')
}
