import { type InferSelectModel, type Table, getTableColumns } from 'drizzle-orm'
import type { ListRow } from './list.ts'

/** Rows by the names that the schema gives their columns. */
export function rowsOf<T extends Table>(table: T, rows: readonly ListRow[]): InferSelectModel<T>[] {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => [name, column.name] as const)
  return rows.map((row) => {
    const named: ListRow = {}
    for (const [name, column] of columns) named[name] = row[column] ?? null
    return named as InferSelectModel<T>
  })
}

/** Filters that were given. */
export const given = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
