import type { InArgs, InStatement, Value } from '@libsql/client'
import Libsql from 'libsql'

/** What can be bound. The driver ends the whole process at a boolean, and takes what is not a number for NULL. */
export type Argument = string | number | null | Uint8Array

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Value>>

export interface Result {
  rows: Row[]
  /** Rows that a statement without RETURNING inserted, changed or deleted. */
  changes: number
  /** Of an insert without RETURNING: the rowid of its last row. Null where a statement answers with rows. */
  lastRow: number | null
}

/**
 * A statement of a batch. `whole` is the same without RETURNING, for as long as it touches so many rows: reading rows back
 * from the driver is not free. If one of a batch touches another number, the batch is undone and runs without any `whole`,
 * as do some batches after it.
 */
export type BatchStatement = string | (Exclude<InStatement, string> & { whole?: Whole | undefined })

export interface Whole {
  sql: string
  rows: number
}

interface Prepared {
  statement: Libsql.Statement
  /** Null when it returns no rows. */
  columns: readonly string[] | null
}

/** Rows that are known already often come many at a time, and what is undone has cost its time. */
const BATCHES_IN_DOUBT = 16

/** Enough for every statement of ours; lists with all their filters make more, and then the oldest leaves. */
const MAX_KEPT_STATEMENTS = 512

/**
 * A connection to the file, by the driver under @libsql/client. Each statement is compiled once: the client compiles it
 * at every call, which costs more than most of them, and leaves the compiled ones to the collector. All calls are synchronous.
 */
export class Connection {
  readonly #native: Libsql.Database
  readonly #kept = new Map<string, Prepared>()
  /** Batches that run without any `whole`, because one has failed lately. */
  #doubts = 0

  /** `busyTimeoutMs`: how long a call may wait for another process's lock. */
  constructor(path: string, busyTimeoutMs: number) {
    this.#native = new Libsql(path, { timeout: busyTimeoutMs })
  }

  execute(statement: InStatement): Result {
    return this.#using(statement, ({ statement: compiled, columns }, args) => {
      if (columns === null) return changed(compiled.run(args))
      const rows = (compiled.all(args) as Value[][]).map((values) => named(columns, values))
      return { rows, changes: 0, lastRow: null }
    })
  }

  /** The rows of a query, each by the places of its columns. */
  values(statement: InStatement): Value[][] {
    return this.#using(statement, ({ statement: compiled }, args) => compiled.all(args) as Value[][])
  }

  /** All of them or none. */
  batch(statements: readonly BatchStatement[]): Result[] {
    if (this.#doubts > 0) this.#doubts--
    else {
      const results = this.#transaction(statements, true)
      if (results !== null) return results
      this.#doubts = BATCHES_IN_DOUBT
    }
    return this.#transaction(statements, false) ?? []
  }

  /** Null when a `whole` touched another number of rows than it should: nothing has happened then. */
  #transaction(statements: readonly BatchStatement[], trusting: boolean): Result[] | null {
    this.execute('BEGIN IMMEDIATE')
    try {
      const results: Result[] = []
      for (const statement of statements) {
        const result = trusting ? this.#trust(statement) : this.execute(statement)
        if (result === null) return (this.execute('ROLLBACK'), null)
        results.push(result)
      }
      this.execute('COMMIT')
      return results
    } catch (error) {
      if (this.#native.inTransaction) this.execute('ROLLBACK')
      throw error
    }
  }

  #trust(statement: BatchStatement): Result | null {
    if (typeof statement === 'string' || statement.whole === undefined) return this.execute(statement)
    const result = this.execute({ ...statement, sql: statement.whole.sql })
    return result.changes === statement.whole.rows ? result : null
  }

  close(): void {
    this.#kept.clear()
    this.#native.close()
  }

  /** A statement that fails is never reset by the driver, and so not kept. */
  #using<T>(given: InStatement, run: (prepared: Prepared, args: InArgs) => T): T {
    const { sql, args } = typeof given === 'string' ? { sql: given, args: [] } : checked(given)
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

const changed = ({ changes, lastInsertRowid }: Libsql.RunResult): Result => ({
  rows: [],
  changes,
  lastRow: Number(lastInsertRowid),
})

/** Types can be wrong, and the driver forgives nothing. */
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
    // The driver's way to say that there are no rows.
    return { statement, columns: null }
  }
}

function named(columns: readonly string[], values: readonly Value[]): Row {
  const row: Record<string, Value> = {}
  for (let place = 0; place < columns.length; place++) row[columns[place] ?? ''] = values[place] ?? null
  return row
}
