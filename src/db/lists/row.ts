import { type InferSelectModel, type Table, getTableColumns } from 'drizzle-orm'
import type { Cell } from './list.ts'

/** What a list reads of its rows. */
export interface Reading<Row> {
  /** Columns of the database. */
  columns: string[]
  /** The rows of a page by the names that the schema gives their columns. */
  rowsOf(rows: readonly (readonly Cell[])[]): Row[]
}

export function reading<T extends Table, Name extends keyof InferSelectModel<T> & string>(
  table: T,
  names: readonly Name[],
): Reading<Pick<InferSelectModel<T>, Name>> {
  const columns = getTableColumns(table)
  const rowOf = (cells: readonly Cell[]): Pick<InferSelectModel<T>, Name> => {
    const row: Record<string, Cell> = {}
    for (let place = 0; place < names.length; place++) row[names[place] ?? ''] = cells[place] ?? null
    return row as Pick<InferSelectModel<T>, Name>
  }
  return { columns: names.map((name) => columns[name]?.name ?? name), rowsOf: (rows) => rows.map(rowOf) }
}

/** Filters that were given. */
export const given = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
