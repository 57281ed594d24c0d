import { type InferSelectModel, type Table, getTableColumns } from 'drizzle-orm'
import type { Cell } from './list.ts'

/** Columns in the database of what the schema calls so. */
export function columnsOf<T extends Table>(table: T, names: readonly (keyof InferSelectModel<T> & string)[]): string[] {
  const columns = getTableColumns(table)
  return names.map((name) => columns[name]?.name ?? name)
}

/** Rows of a list by the names that the schema gives their columns. */
export const rowsOf = <Row>(names: readonly (keyof Row & string)[], rows: readonly (readonly Cell[])[]): Row[] =>
  rows.map((cells) => {
    const row: Record<string, Cell> = {}
    for (let place = 0; place < names.length; place++) row[names[place] ?? ''] = cells[place] ?? null
    return row as Row
  })

/** Filters that were given. */
export const given = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
