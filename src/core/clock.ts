/** The source of time. Tests and simulations pass a manual clock. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds; may jump. For timestamps that people and other machines see. */
  now(): number
  /**
   * Epoch milliseconds that never jump while the process runs: the wall-clock at its start plus monotonic time.
   * For stored times that only the gateway itself compares: when a job is due, when an attempt began.
   */
  steady(): number
  /** Milliseconds since some fixed point; never jumps. For windows, pauses and timeouts within one process. */
  monotonic(): number
  /** Runs `callback` once after `delayMs`; the returned function cancels it. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

/** Resolves after `ms`. */
export const sleep = (clock: Pick<Clock, 'after'>, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve))

const startOfMonotonic = Date.now() - performance.now()

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => startOfMonotonic + performance.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Epoch milliseconds as the contract prints them: ISO 8601, UTC, milliseconds, `Z`. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString()

/** A stored time in the same form. A time that no `Date` can hold is shown as 1970, because one bad row must not break a page. */
export const isoTimeOf = (stored: unknown): string => isoTime(new Date(Number(stored)).getTime() || 0)
