import { ANY, type Codes, type Wanted } from './block.ts'

/** Places of the rows that pass, ascending; valid until the next call. */
let found = new Int32Array(8192)

/** The rows from `low` up to but not including `high` that have every wanted code, sure or not. Answers how many; read them by `foundAt`. */
export function match(wanted: readonly Wanted[], codesOf: (place: number) => Codes, low: number, high: number): number {
  if (found.length < high) found = new Int32Array(high * 2)
  const [first, ...others] = wanted
  let count = first === undefined ? all(low, high) : scan(codesOf(first.place), first, low, high)
  for (const one of others) count = narrow(codesOf(one.place), one, count)
  return count
}

export const foundAt = (index: number): number => found[index] ?? 0

function all(low: number, high: number): number {
  for (let i = low; i < high; i++) found[i - low] = i
  return Math.max(0, high - low)
}

/** Written without a branch a row: half of the rows of a column may pass, in no order that a processor could foresee. */
function scan(codes: Codes, { code, unsure }: Wanted, low: number, high: number): number {
  let count = 0
  for (let i = low; i < high; i++) {
    const is = codes[i]
    found[count] = i
    count += +(is === code || is === unsure || code === ANY)
  }
  return count
}

function narrow(codes: Codes, { code, unsure }: Wanted, before: number): number {
  let count = 0
  for (let k = 0; k < before; k++) {
    const i = found[k] ?? 0
    const is = codes[i]
    found[count] = i
    count += +(is === code || is === unsure || code === ANY)
  }
  return count
}

/** Whether a row that passed may hold something else after all. */
export function isUnsure(wanted: readonly Wanted[], codesOf: (place: number) => Codes, row: number): boolean {
  return wanted.some(({ place, unsure }) => unsure !== -1 && codesOf(place)[row] === unsure)
}
