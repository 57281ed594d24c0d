import { type InferSelectModel, type Table, getTableColumns } from 'drizzle-orm'
import type { ListRow } from './list.ts'

/** A row by the names that the schema gives its columns. */
export function rowOf<T extends Table>(table: T, row: ListRow): InferSelectModel<T> {
  const named = Object.entries(getTableColumns(table)).map(([name, column]) => [name, row[column.name] ?? null])
  return Object.fromEntries(named) as InferSelectModel<T>
}

/** Filters that were given. */
export const given = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
