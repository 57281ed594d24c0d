import type { Config } from '../core/config.ts'
import { EXIT } from '../core/start-error.ts'

/** What a command line needs of the world around it; handed in by `cli.ts`. */
export interface CliContext {
  config: Config
  json: boolean
  /** As given; handed on to Litestream, which has variables of its own. */
  environment: Readonly<Record<string, string | undefined>>
  /** Whether a person reads standard output. */
  terminal: boolean
  /** Asks the person at the terminal; null where nobody can answer. */
  prompt: ((question: string) => Promise<string>) | null
  stdout(text: string): void
  stderr(text: string): void
}

/** Runs a server command and prints its result; one that is not `good` is a failure all the same. */
export type Run = (command: string, input: unknown, good?: (result: unknown) => boolean) => Promise<void>

/** Ends a command with a sentence on stderr. */
export class CliError extends Error {
  override readonly name = 'CliError'
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failure,
  ) {
    super(message)
  }
}
