import type { NumberQueue } from './number-queue.ts'

/** The number queues that wait for an extension take turns, one message each. */
export class ExtensionTurns {
  /** In the order of their turns. */
  readonly queues = new Set<NumberQueue>()
  /** Calls in progress. */
  inFlight = 0
  /**
   * How many calls in a row did not reach the provider or were answered 503. Calls that fail together count once. After a failure, calls are
   * made one at a time.
   */
  consecutiveFailures = 0
  /** When the first of them ended, epoch milliseconds; null if there is none. */
  failingSince: number | null = null
  /** Whether a refusal announced a pause that is too short to help: then calls are made one at a time. */
  isProbed = false
  cancelAlarm: () => void = () => undefined

  constructor(readonly extensionId: string) {}

  /** Notes a call that failed, or several that failed together. `now`: epoch milliseconds. */
  failed(now: number): void {
    this.consecutiveFailures++
    this.failingSince ??= now
  }

  reached(): void {
    this.consecutiveFailures = 0
    this.failingSince = null
    this.isProbed = false
  }

  get hasRoom(): boolean {
    return (this.consecutiveFailures === 0 && !this.isProbed) || this.inFlight === 0
  }
}

const BACKOFF_FIRST_MS = 2000
const BACKOFF_MAX_MS = 60_000

/** The delay after a number of failures in a row: 2 s, 4 s, 8 s … 60 s. */
export const backoffMs = (failures: number): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** (Math.max(failures, 1) - 1), BACKOFF_MAX_MS)
