import { type Log, errorName } from '../core/log.ts'
import { EXIT } from '../core/start-error.ts'

/**
 * What the process does. Without `STANDBY` it begins with `starting`. ARCHITECTURE.md draws it.
 * - `standby`: another gateway works; this one waits for the lease.
 * - `starting`: it fetches, migrates and recovers its database.
 * - `active`: it serves.
 * - `draining`: it ends, by a signal, for another gateway, or because something failed.
 */
export type ProcessState = 'standby' | 'starting' | 'active' | 'draining'

/** The state of the server process, and how it ends. */
export class Shutdown {
  state: ProcessState = 'starting'
  /** How the server ends what is open. It is replaced as more is opened; it resolves to a problem that the operator must know. */
  end: () => Promise<string | null> = async () => null

  constructor(
    readonly log: Log,
    readonly exit: (code: number) => void,
  ) {}

  get begun(): boolean {
    return this.state === 'draining'
  }

  /**
   * Stops the server and exits with this code, or with 1 instead of 0 if the stop had a problem. A second call ends the process immediately.
   */
  stop = async (code: number): Promise<void> => {
    if (this.begun) return this.exit(EXIT.failure)
    this.state = 'draining'
    this.log.info({}, 'stopping')
    const problem = await this.end().catch(problemOf)
    if (problem !== null) process.stderr.write(`${problem}\n`)
    this.exit(code === EXIT.stopped && problem !== null ? EXIT.failure : code)
  }

  /** The first signal drains. A second one ends the process immediately, which is safe: every state survives a crash. */
  onSignals(): void {
    process.on('SIGTERM', () => void this.stop(EXIT.stopped))
    process.on(
      'SIGINT',
      ignoreRepetition(() => this.stop(EXIT.stopped)),
    )
  }

  /** Stops the gateway if Litestream ends on its own: otherwise, the gateway would run without a backup, and its log would grow. */
  withoutLitestream = async (code: number): Promise<void> => {
    await Bun.sleep(SAME_SIGNAL_MS)
    if (this.begun) return
    this.log.error({ code }, 'Litestream is gone: stopping, so that the supervisor starts both again')
    await this.stop(code === EXIT.locked ? EXIT.locked : EXIT.unavailable)
  }
}

/** A signal to the entire process group also ends Litestream. It reaches the gateway within this time. */
const SAME_SIGNAL_MS = 250

/** Without this, an error would end the process with a stack trace. */
const problemOf = (error: unknown): string =>
  `The stop failed (${errorName(error)}): what was accepted before is stored, unless the log says that the database is lost; see docs/runbooks.md before you start again`

const SAME_KEY_MS = 250

/** A ^C reaches the server twice: from the terminal, and from the `bun run` or `npx` that started it. */
function ignoreRepetition(stop: () => Promise<void>): () => void {
  let lastAt = -Infinity
  return () => {
    const now = performance.now()
    if (now - lastAt < SAME_KEY_MS) return
    lastAt = now
    void stop()
  }
}
