import type { List, ListQuery, Stretch } from './list.ts'

/**
 * A block: the columns of some thousand rows as arrays of small codes, oldest row first. A frequent value has a code of
 * its own. Rare values share codes by their hash, and rows that were still open have the code `live`: what a row with
 * such a code holds must be looked up in the table.
 */
export interface BlockHeader {
  rows: number
  /** When it was built, epoch milliseconds. */
  builtAt: number
  columns: ColumnHeader[]
}

export interface ColumnHeader {
  /** Values with a code of their own, which is their place here, and how many rows have them. */
  values: (string | null)[]
  counts: number[]
  /** Rows that were open. */
  live: number
  /** Rows with a rare value. */
  rare: number
}

export interface Block extends Stretch {
  id: number
  header: BlockHeader
}

export type Codes = Uint8Array | Uint16Array

const CODES = 65_536
/** Places of the columns that every block has, behind those of the list. */
export const SEQ_PLACE = 15
export const AT_PLACE = 14
export const PLACES = 16

export const liveCode = (column: ColumnHeader): number => column.values.length
const rareBase = (column: ColumnHeader): number => column.values.length + 1

/** The code that all rare values with the same hash share. */
export function rareCode(column: ColumnHeader, value: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < value.length; i++) hash = Math.imul(hash ^ value.charCodeAt(i), 0x01000193)
  return rareBase(column) + (((hash ^ (hash >>> 15)) >>> 0) % (CODES - rareBase(column)))
}

export const isWide = (column: ColumnHeader): boolean => column.rare > 0 || column.values.length > 255

/** What a filter means in one block. */
export interface Wanted {
  place: number
  /** The code of the value, or -1 when no row is sure to have it. */
  code: number
  /** A second code that may stand for the value: shared by hash, or live; -1 if none. */
  unsure: number
  /** How many rows carry `code`. */
  count: number
}

/** Filters as codes; null when no row of the block can pass them. What every row passes is left out. */
export function wantedIn(list: List, header: BlockHeader, query: ListQuery): Wanted[] | null {
  const wanted: Wanted[] = []
  for (const [place, name] of list.columns.entries()) {
    const column = header.columns[place]
    const value = query.equal[name]
    if (column === undefined) continue
    const one = value === undefined ? shownIn(list, name, column, place) : valueIn(column, place, value)
    if (one === 'none') return null
    if (one !== 'all') wanted.push(one)
  }
  return wanted.toSorted((a, b) => a.count - b.count)
}

function valueIn(column: ColumnHeader, place: number, value: string): Wanted | 'all' | 'none' {
  const found = column.values.indexOf(value)
  const isRare = found === -1 && column.rare > 0
  const unsure = isRare ? rareCode(column, value) : column.live > 0 ? liveCode(column) : -1
  if (found === -1 && unsure === -1) return 'none'
  if (column.values.length === 1 && column.rare + column.live === 0) return 'all'
  return { place, code: found, unsure, count: column.counts[found] ?? 0 }
}

/** Open deliveries are not shown; in a block they are the ones with the code `live`. */
function shownIn(list: List, name: string, column: ColumnHeader, place: number): Wanted | 'all' {
  if (list.shown !== name || column.live === 0) return 'all'
  return { place, code: ANY, unsure: liveCode(column), count: Number.MAX_SAFE_INTEGER }
}

/** Stands for every code that is sure. */
export const ANY = -2
