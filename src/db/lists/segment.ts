import { Dictionary } from './dictionary.ts'
import { type Cell, type List, type Range, isOpen } from './list.ts'

/**
 * Some thousand rows of a tenant's list, oldest first, as arrays: `seq`, the time, and a 16-bit code for each column that
 * can be filtered by. It contains every row of its range. SQL triggers delete it in the commit that changes one of these rows;
 * only the state of an open row may change (see row-states.ts).
 */
export interface Segment extends Range {
  id: number
  rows: number
  /** Rows that were open when the segment was built. */
  openRows: number
}

/** One column of a segment: the code of each row, and the values that the codes stand for. */
export interface CodeColumn {
  codes: Uint16Array
  dictionary: Dictionary
}

/** The code of null. */
export const NULL_CODE = 0xffff

/** The columns that every segment has in addition to those of its list. */
export const SEQ = 'seq'
export const TIME = 'at'

/** A column as it is stored; one of numbers has no dictionary. */
export interface StoredColumn {
  name: string
  data: Uint8Array
  dictionaryText: string | null
  dictionaryEnds: Uint8Array | null
}

export interface EncodedSegment {
  rows: number
  openRows: number
  columns: StoredColumn[]
}

/** A row of the table: `seq`, the time, then the columns of the list. */
export type SourceRow = readonly Cell[]

/** The rows must be in the order of the list, oldest first. */
export function encodeSegment(list: List, rows: readonly SourceRow[]): EncodedSegment {
  const cellsAt = (index: number): (string | null)[] => rows.map((row) => row[index] as string | null)
  const states = cellsAt(list.columns.indexOf(list.state) + 2)
  return {
    rows: rows.length,
    openRows: states.filter((state) => isOpen(list, state)).length,
    columns: [
      numberColumn(SEQ, rows, 0),
      numberColumn(TIME, rows, 1),
      ...list.columns.map((name, index) =>
        // Open rows will later need the codes of the other states.
        codeColumn(name, cellsAt(index + 2), name === list.state ? Object.keys(list.states) : []),
      ),
    ],
  }
}

const numberColumn = (name: string, rows: readonly SourceRow[], index: number): StoredColumn => ({
  name,
  data: bytesOf(Float64Array.from(rows, (row) => Number(row[index]))),
  dictionaryText: null,
  dictionaryEnds: null,
})

function codeColumn(name: string, cells: readonly (string | null)[], others: readonly string[]): StoredColumn {
  const values = new Set([...others, ...cells.filter((cell) => cell !== null)])
  if (values.size > NULL_CODE) throw new RangeError(`Column ${name} has ${values.size} values, too many to code`)
  const sorted = [...values].toSorted()
  const codes = new Map<string | null, number>(sorted.map((value, code) => [value, code]))
  const dictionary = Dictionary.of(sorted)
  return {
    name,
    data: bytesOf(Uint16Array.from(cells, (cell) => codes.get(cell) ?? NULL_CODE)),
    dictionaryText: dictionary.text,
    dictionaryEnds: bytesOf(dictionary.ends),
  }
}

const bytesOf = (array: Uint16Array | Uint32Array | Float64Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
