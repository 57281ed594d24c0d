import type { InArgs, InStatement, Value } from '@libsql/client'
import Libsql from 'libsql'

/** A value that can be bound to a statement. A boolean would crash the process in the driver, and NaN would be stored as NULL. */
export type Argument = string | number | null | Uint8Array

/** A row, keyed by column name. */
export type Row = Readonly<Record<string, Value>>

export interface Result {
  rows: Row[]
  /** Rows that a statement without RETURNING inserted, changed or deleted. */
  changes: number
}

interface Prepared {
  statement: Libsql.Statement
  /** Null when it returns no rows. */
  columns: readonly string[] | null
}

/** More than this program has, except for lists, where each combination of filters is a statement of its own. */
const MAX_KEPT_STATEMENTS = 1024

/**
 * A connection to the database file through the driver of @libsql/client. It compiles each statement once; the client would
 * compile it at every call, which often takes longer than running it. All calls are synchronous.
 */
export class SqliteConnection {
  readonly #native: Libsql.Database
  readonly #kept = new Map<string, Prepared>()

  /** `busyTimeoutMs`: how long a call may wait for another process's lock. */
  constructor(path: string, busyTimeoutMs: number) {
    this.#native = new Libsql(path, { timeout: busyTimeoutMs })
  }

  execute(statement: InStatement): Result {
    return this.#using(statement, ({ statement: compiled, columns }, args) => {
      if (columns === null) return { rows: [], changes: compiled.run(args).changes }
      const rows = (compiled.all(args) as Value[][]).map((values) => named(columns, values))
      return { rows, changes: 0 }
    })
  }

  /** The columns and rows of a query; each row is an array in the order of the columns. */
  table(statement: InStatement): { columns: readonly string[]; rows: Value[][] } {
    return this.#using(statement, ({ statement: compiled, columns }, args) => ({
      columns: columns ?? [],
      rows: compiled.all(args) as Value[][],
    }))
  }

  /** The rows of a query, each as an array in the order of its columns. */
  values(statement: InStatement): Value[][] {
    return this.table(statement).rows
  }

  /** Runs all statements in one transaction, or none. */
  batch(statements: readonly InStatement[]): Result[] {
    this.execute('BEGIN IMMEDIATE')
    try {
      const results = statements.map((statement) => this.execute(statement))
      this.execute('COMMIT')
      return results
    } catch (error) {
      if (this.#native.inTransaction) this.execute('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#kept.clear()
    this.#native.close()
  }

  /** A statement that fails is compiled again next time, because the driver never resets it. */
  #using<T>(input: InStatement, run: (prepared: Prepared, args: InArgs) => T): T {
    const { sql, args } = typeof input === 'string' ? { sql: input, args: [] } : checked(input)
    try {
      return run(this.#kept.get(sql) ?? this.#keep(sql), args)
    } catch (error) {
      this.#kept.delete(sql)
      throw error
    }
  }

  #keep(sql: string): Prepared {
    const prepared = prepare(this.#native, sql)
    const [oldest] = this.#kept.size >= MAX_KEPT_STATEMENTS ? this.#kept.keys() : []
    if (oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(sql, prepared)
    return prepared
  }
}

/** Refuses a value that would crash the driver or be stored as NULL. */
function checked({ sql, args = [] }: Exclude<InStatement, string>): { sql: string; args: InArgs } {
  for (const value of Array.isArray(args) ? args : Object.values(args)) {
    const sound = typeof value === 'string' || value === null || Number.isFinite(value) || value instanceof Uint8Array
    if (!sound) throw new TypeError(`A ${typeof value} cannot be an argument of a statement`)
  }
  return { sql, args }
}

function prepare(native: Libsql.Database, sql: string): Prepared {
  const statement = native.prepare(sql)
  try {
    statement.raw(true)
    return { statement, columns: statement.columns().map((column) => column.name) }
  } catch {
    // The driver throws for a statement that returns no rows.
    return { statement, columns: null }
  }
}

/** A row of these columns. */
export function named(columns: readonly string[], values: readonly Value[]): Row {
  const row: Record<string, Value> = {}
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = values[index] ?? null
  return row
}

/** The text of a column; null for NULL. */
export const textOrNull = (value: Value | undefined): string | null => (typeof value === 'string' ? value : null)
