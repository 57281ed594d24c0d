import type { Config } from '../core/config.ts'
import { EXIT } from '../core/start-error.ts'

/** Configuration, terminal and output of a command. `cli.ts` builds it. */
export interface CliContext {
  config: Config
  json: boolean
  /** The environment variables, unparsed. Litestream gets them too. */
  environment: Readonly<Record<string, string | undefined>>
  /** Whether standard output is a terminal. */
  terminal: boolean
  /** Asks the person at the terminal; null if there is no terminal. */
  prompt: ((question: string) => Promise<string>) | null
  stdout(text: string): void
  stderr(text: string): void
}

/** Runs an operator command and prints its result. Exits with 1 if `good` returns false for the result. */
export type Run = (command: string, input: unknown, good?: (result: unknown) => boolean) => Promise<void>

/** Ends a command with a message on standard error and an exit code. An empty message prints nothing. */
export class CliError extends Error {
  override readonly name = 'CliError'
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failure,
  ) {
    super(message)
  }
}
