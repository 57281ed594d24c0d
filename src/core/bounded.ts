/**
 * Options of an LRU cache of at most `count` entries. Not its `max`: that sets room aside for all of them at once, megabytes
 * and milliseconds at each start for entries that may never come.
 */
export const bounded = (count: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: count,
  sizeCalculation: () => 1,
})
