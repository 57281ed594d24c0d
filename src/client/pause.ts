/** Waits, but stops early if the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** The pause before the next attempt: it doubles with each failure, and jitter spreads clients that failed together. */
export const backoffMs = (failures: number): number => Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2)
