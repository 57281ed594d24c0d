/** Time, handed in: the real one here, a manual one in tests and in the simulation. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds; may jump. For stored timestamps and deadlines across restarts. */
  now(): number
  /** Milliseconds since some fixed point; never jumps. For windows, pauses and timeouts within one process. */
  monotonic(): number
  /** Runs `callback` once after `delayMs`; the answer cancels it. Never keeps the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Epoch milliseconds as the contract prints them: ISO 8601, UTC, milliseconds, `Z`. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString()
