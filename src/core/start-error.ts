/** Exit codes of the server, after BSD's sysexits. */
export const EXIT = {
  stopped: 0,
  failure: 1,
  usage: 2,
  noServer: 7,
  unavailable: 69,
  cannotWrite: 73,
  locked: 75,
  badConfig: 78,
} as const

/** The process cannot start. The message has one line per problem, each with its fix. */
export class StartError extends Error {
  override readonly name = 'StartError'
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message)
  }
}
