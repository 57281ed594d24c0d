/** The first and the last of some times; null without one. */
export const earliest = (times: readonly string[]): string | null => times.toSorted()[0] ?? null
export const latest = (times: readonly (string | null | undefined)[]): string | null =>
  times
    .map((at) => at ?? '')
    .toSorted()
    .at(-1) || null
