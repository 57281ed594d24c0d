import {
  AT_PLACE,
  type BlockHeader,
  type Codes,
  type ColumnHeader,
  SEQ_PLACE,
  isWide,
  liveCode,
  rareCode,
} from './block.ts'
import type { Cell, List } from './list.ts'

/** Rows of one block as the table has them: `seq`, the time, then the columns of the list. */
export type SourceRow = readonly Cell[]

export interface EncodedBlock {
  header: BlockHeader
  /** Place → the bytes of its array; a column whose rows are all the same has none. */
  columns: [place: number, bytes: Uint8Array][]
}

/** Up to so many different values, each gets a code of its own. */
const FEW_VALUES = 64
/** Of more, those that so many rows have. */
const FREQUENT_ROWS = 8
const MAX_VALUES = 4096

/** Rows must come in the order of the list, oldest first. */
export function encodeBlock(list: List, rows: readonly SourceRow[], builtAt: number): EncodedBlock {
  const header: BlockHeader = { rows: rows.length, builtAt, columns: [] }
  const columns: EncodedBlock['columns'] = [
    [SEQ_PLACE, bytesOf(Float64Array.from(rows, (row) => Number(row[0])))],
    [AT_PLACE, bytesOf(Float64Array.from(rows, (row) => Number(row[1])))],
  ]
  const state = list.columns.indexOf(list.state)
  const isOpen = rows.map((row) => list.open.includes(row[state + 2] as string | null))
  for (const [place, name] of list.columns.entries()) {
    const cells = rows.map((row) => row[place + 2] as string | null)
    const open = name === list.state ? isOpen : null
    const column = columnHeader(cells, open)
    header.columns.push(column)
    if (column.values.length + column.live + column.rare > 1)
      columns.push([place, bytesOf(encodeCells(column, cells, open))])
  }
  return { header, columns }
}

function columnHeader(cells: readonly (string | null)[], open: readonly boolean[] | null): ColumnHeader {
  const counted = new Map<string | null, number>()
  for (const [i, cell] of cells.entries()) if (open?.[i] !== true) counted.set(cell, (counted.get(cell) ?? 0) + 1)
  const isFrequent = ([value, count]: [string | null, number]): boolean =>
    counted.size <= FEW_VALUES || value === null || count >= FREQUENT_ROWS
  const frequent = [...counted].filter(isFrequent).slice(0, MAX_VALUES)
  const sure = frequent.reduce((sum, [, count]) => sum + count, 0)
  const live = open?.filter(Boolean).length ?? 0
  return {
    values: frequent.map(([value]) => value),
    counts: frequent.map(([, count]) => count),
    live,
    rare: cells.length - sure - live,
  }
}

function encodeCells(column: ColumnHeader, cells: readonly (string | null)[], open: readonly boolean[] | null): Codes {
  const known = new Map(column.values.map((value, code) => [value, code]))
  const codes = isWide(column) ? new Uint16Array(cells.length) : new Uint8Array(cells.length)
  for (const [i, cell] of cells.entries()) {
    codes[i] = open?.[i] === true ? liveCode(column) : (known.get(cell) ?? rareCode(column, cell ?? ''))
  }
  return codes
}

const bytesOf = (array: Codes | Float64Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
