import { drizzle } from 'drizzle-orm/sqlite-proxy'
import type { Argument } from './connection.ts'
import type { Statement } from './writer.ts'

/**
 * Builds an ordinary statement: an insert, update, delete or select by key. It runs nothing: hand `statementOf(…)` to the
 * writer, and use `Database.reads` for queries of their own.
 */
export const build = drizzle(() =>
  Promise.reject(new Error('A statement was run instead of being handed to the writer')),
)

/** The SQL and arguments of a statement made with `build`. */
export function statementOf(query: { toSQL(): { sql: string; params: unknown[] } }): Statement {
  const { sql, params } = query.toSQL()
  // Drizzle has encoded the values for SQLite; the connection refuses any other type.
  return { sql, args: params as Argument[] }
}
