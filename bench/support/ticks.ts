/**
 * Measures how long this thread works between two ticks, until `longestMs` is called. Some machines count processor time in steps of 4 ms,
 * and the wall clock includes the time of other processes, so the smaller of the two is closest.
 */
export function watchTicks(): { longestMs(): number } {
  let longest = 0
  let last = times()
  let isWatching = true
  const tick = (): void => {
    const now = times()
    longest = Math.max(longest, Math.min(now.processor - last.processor, now.wall - last.wall))
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

const times = () => ({ processor: threadMs(), wall: performance.now() })

/** The processor time of this thread in milliseconds. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
