import type { Config } from '../core/config.ts'
import { EXIT } from '../core/start-error.ts'

/** Configuration, terminal and output of a command. `cli.ts` builds it. */
export interface CliContext {
  /** If there are `problems`, defaults replace the bad values. */
  config: Config
  /** Why a start would refuse this environment. `requireSettings` keeps a command from using bad values. */
  problems: readonly string[]
  json: boolean
  /** The environment variables, unparsed. Litestream gets them too. */
  environment: Readonly<Record<string, string | undefined>>
  /** Whether standard output is a terminal. */
  terminal: boolean
  /** The width of the terminal; null if standard output is not a terminal, so that nothing is cut. */
  columns: number | null
  /** Whether standard error is a terminal, where progress is shown. */
  showsProgress: boolean
  /** Asks the person at the terminal; null if there is no terminal. */
  prompt: ((question: string) => Promise<string>) | null
  /** Standard input; null if it is a terminal. */
  stdin: AsyncIterable<Uint8Array> | null
  stdout(text: string): void
  stderr(text: string): void
}

/**
 * Throws if this environment is bad, because no command may act on it. `names`: only these variables count; by default all do. A command that
 * asks the running server needs only DATABASE_URL, so it works with a bad environment, too.
 */
export function requireSettings(
  { problems }: Pick<CliContext, 'problems'>,
  names?: readonly string[],
  exitCode: number = EXIT.failure,
): void {
  const bad = problems.filter((problem) => names?.some((name) => problem.startsWith(name)) ?? true)
  if (bad.length > 0) throw new CliError(bad.join('\n'), exitCode)
}

/** A request to the operator's interface: the server's Unix socket, or the same endpoints in this process. */
export interface OperatorRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
  /** Sent unchanged, instead of a body. */
  file?: Blob
  /** The app that the request acts as. */
  appId?: string
  idempotencyKey?: string
  /**
   * What the request needs. `server`: a running server. `database` (default): an existing database, because a request to an empty one in the
   * wrong folder would seem to succeed. `nothing`: a missing database is created.
   */
  needs?: 'server' | 'database' | 'nothing'
}

export interface RunOptions {
  /** The part of the answer to print; by default all of it. */
  show?(answer: never): unknown
  /** What a person sees, if not all of `show`. */
  view?(answer: never): unknown
  /** Exits with 1 if it returns false for the answer. */
  good?(answer: never): boolean
}

/** Sends a request and prints its answer. */
export type Run = (request: OperatorRequest, options?: RunOptions) => Promise<void>

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
