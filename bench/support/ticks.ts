/** Measures the processor time of this thread between two ticks, until `longestMs` is called. */
export function watchTicks(): { longestMs(): number } {
  let longest = 0
  let last = threadMs()
  let isWatching = true
  const tick = (): void => {
    const now = threadMs()
    longest = Math.max(longest, now - last)
    last = now
    if (isWatching) setImmediate(tick)
  }
  setImmediate(tick)
  return {
    longestMs() {
      isWatching = false
      return longest
    },
  }
}

/** The processor time of this thread in milliseconds. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
