/** Selects the rows of a segment whose code in a column is `code`; with `isNot`, all others. */
export interface Filter {
  codes: Uint16Array
  code: number
  isNot: boolean
}

/** Rows of a segment: low ≤ row < high. */
export interface Bounds {
  low: number
  high: number
}

const FIRST_ROWS = 16

/** The rows that matched, ascending; valid until the next call. */
let matched = new Int32Array(8192)

/** Finds the rows that pass all filters. Returns how many; `matchedRows` returns them. */
export function match(filters: readonly Filter[], { low, high }: Bounds): number {
  if (matched.length < high) matched = new Int32Array(high * 2)
  const [first, ...others] = filters
  let count = first === undefined ? all(low, high) : scan(first, low, high)
  for (const filter of others) count = narrow(filter, count)
  return count
}

export const matchedRows = (start: number, end: number): number[] => Array.from(matched.subarray(start, end))

function all(low: number, high: number): number {
  for (let row = low; row < high; row++) matched[row - low] = row
  return Math.max(0, high - low)
}

/**
 * `indexOf` compares eight codes at a time, but each row that it finds takes as long as many comparisons. So `indexOf` finds
 * the first rows, which are all rows of a rare value. The loop finds the rest, without a branch per row that the processor
 * could not predict.
 */
function scan({ codes, code, isNot }: Filter, low: number, high: number): number {
  const into = matched
  const not = +isNot
  let count = 0
  let row = low
  while (!isNot && count < FIRST_ROWS) {
    const next = codes.indexOf(code, row)
    if (next === -1 || next >= high) return count
    into[count++] = next
    row = next + 1
  }
  for (; row < high; row++) {
    into[count] = row
    count += +(codes[row] === code) ^ not
  }
  return count
}

function narrow({ codes, code, isNot }: Filter, before: number): number {
  const not = +isNot
  let count = 0
  for (let index = 0; index < before; index++) {
    const row = matched[index] ?? 0
    matched[count] = row
    count += +(codes[row] === code) ^ not
  }
  return count
}
