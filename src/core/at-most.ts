/**
 * Waits for `work`, but not longer than `ms` of real time. Rejects as `work` does. The timer ends with the wait, because a leftover timer
 * would keep the process alive.
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
