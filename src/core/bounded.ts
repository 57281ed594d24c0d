/**
 * Options of an LRU cache of at most `count` entries. The option `max` would allocate space for all of them at once, which costs megabytes and
 * milliseconds at each start for entries that may never come.
 */
export const bounded = (count: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: count,
  sizeCalculation: () => 1,
})
