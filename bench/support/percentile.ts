/** The value below which `share` of the figures lies. */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = Float64Array.from(figures).toSorted()
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
}
