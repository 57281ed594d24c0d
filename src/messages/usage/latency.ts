// A latency class is a quarter of a doubling wide and named by its middle, so a percentile is at most 9 % off.

const STEPS_PER_DOUBLING = 4

/** The class of a time in milliseconds, at least 1. */
export function latencyClass(ms: number): number {
  const step = Math.round(Math.log2(Math.max(ms, 1)) * STEPS_PER_DOUBLING)
  return Math.round(2 ** (step / STEPS_PER_DOUBLING))
}

/** How often each class occurred. */
export interface LatencyCount {
  ms: number
  count: number
}

/** The lowest class such that `share` of all values lie in it or below; null if there are no values. */
export function percentile(counts: readonly LatencyCount[], share: number): number | null {
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  let left = Math.ceil(total * share)
  for (const { ms, count } of counts.toSorted((one, other) => one.ms - other.ms)) {
    left -= count
    if (left <= 0 && count > 0) return ms
  }
  return null
}
