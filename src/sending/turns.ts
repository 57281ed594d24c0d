import type { Line } from './line.ts'

/** An extension with the lines that wait for it. They take turns, one message each. */
export class ExtensionTurns {
  /** In the order of their turns. */
  readonly lines = new Set<Line>()
  /** Calls under way. */
  inFlight = 0
  /** Calls in a row that could not be made. While there are any, one call at a time tries whether the provider is back. */
  failures = 0
  cancelAlarm: () => void = () => undefined

  constructor(readonly extensionId: string) {}

  get hasRoom(): boolean {
    return this.failures === 0 || this.inFlight === 0
  }
}

const BACKOFF_FIRST_MS = 2000
const BACKOFF_MAX_MS = 60_000

/** 2 s, 4 s, 8 s … 60 s after that many failures in a row. */
export const backoffMs = (failures: number): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** (Math.max(failures, 1) - 1), BACKOFF_MAX_MS)
