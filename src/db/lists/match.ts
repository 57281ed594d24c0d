import { ANY, type Codes } from './block.ts'

/** One column of a block and the codes that pass there: `code`, or -1; and `unsure`, which may stand for the value, or -1. */
export interface Sieve {
  codes: Codes
  code: number
  unsure: number
}

/** Places of the rows that pass, ascending; valid until the next call. */
let found = new Int32Array(8192)

/** The rows from `low` up to but not including `high` that pass all sieves, sure or not. Answers how many; read them by `foundAt`. */
export function match(sieves: readonly Sieve[], low: number, high: number): number {
  if (found.length < high) found = new Int32Array(high * 2)
  const [first, ...others] = sieves
  let count = first === undefined ? all(low, high) : scan(first, low, high)
  for (const sieve of others) count = narrow(sieve, count)
  return count
}

export const foundAt = (index: number): number => found[index] ?? 0

/** Whether a row that passed may hold something else after all. */
export const isUnsure = (sieves: readonly Sieve[], row: number): boolean =>
  sieves.some(({ codes, unsure }) => unsure !== -1 && codes[row] === unsure)

function all(low: number, high: number): number {
  for (let i = low; i < high; i++) found[i - low] = i
  return Math.max(0, high - low)
}

/** Written without a branch a row: half of the rows of a column may pass, in no order that a processor could foresee. */
function scan({ codes, code, unsure }: Sieve, low: number, high: number): number {
  if (code === ANY) return all(low, high)
  if (code === -1 && codes instanceof Uint16Array) return scanForRare(codes, unsure, low, high)
  const [one, other] = pairOf(code, unsure)
  const into = found
  let count = 0
  if (one === other) {
    for (let i = low; i < high; i++) {
      into[count] = i
      count += +(codes[i] === one)
    }
    return count
  }
  for (let i = low; i < high; i++) {
    into[count] = i
    count += +(codes[i] === one) | +(codes[i] === other)
  }
  return count
}

/** `indexOf` looks at eight codes at a time, but costs as much as many of them for each that it finds. */
function scanForRare(codes: Uint16Array, code: number, low: number, high: number): number {
  let count = 0
  for (let i = codes.indexOf(code, low); i !== -1 && i < high; i = codes.indexOf(code, i + 1)) found[count++] = i
  return count
}

function narrow({ codes, code, unsure }: Sieve, before: number): number {
  if (code === ANY) return before
  const [one, other] = pairOf(code, unsure)
  let count = 0
  for (let k = 0; k < before; k++) {
    const row = found[k] ?? 0
    const is = codes[row]
    found[count] = row
    count += +(is === one || is === other)
  }
  return count
}

const pairOf = (code: number, unsure: number): [number, number] => [
  code === -1 ? unsure : code,
  unsure === -1 ? code : unsure,
]
