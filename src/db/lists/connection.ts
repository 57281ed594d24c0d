import Database from 'libsql'
import type { Cell, ListRow } from './list.ts'

/**
 * The reader's own connection: it sees what is committed, and writes nothing. It must be of the same driver as the gate:
 * two copies of SQLite in one process would drop each other's file locks.
 */
export class Connection {
  private readonly database: Database.Database
  private readonly statements = new Map<string, Database.Statement>()

  constructor(path: string) {
    this.database = new Database(path, { timeout: BUSY_TIMEOUT_MS })
    for (const pragma of PRAGMAS) this.database.exec(`PRAGMA ${pragma}`)
  }

  /** Rows as arrays. Every statement is read to its end: one left half-way would hold its snapshot, and with it the WAL. */
  rows(sql: string, args: readonly (Cell | Uint8Array)[]): Cell[][] {
    return this.statement(sql).all(args) as Cell[][]
  }

  /** Rows by the names of their columns. */
  records(sql: string, args: readonly Cell[]): ListRow[] {
    const statement = this.statement(sql)
    const names = statement.columns().map(({ name }) => name)
    const rows = statement.all(args) as Cell[][]
    return rows.map((row) => {
      const record: ListRow = {}
      for (const [i, name] of names.entries()) record[name] = row[i] ?? null
      return record
    })
  }

  value(sql: string, args: readonly Cell[]): Cell {
    return this.rows(sql, args)[0]?.[0] ?? null
  }

  blob(sql: string, args: readonly Cell[]): Uint8Array | null {
    return (this.value(sql, args) as Uint8Array | null) ?? null
  }

  /** Everything in it is read from one snapshot. */
  snapshot<T>(read: () => T): T {
    this.database.exec('BEGIN')
    try {
      return read()
    } finally {
      this.database.exec('COMMIT')
    }
  }

  close(): void {
    this.statements.clear()
    this.database.close()
  }

  private statement(sql: string): Database.Statement {
    const known = this.statements.get(sql)
    if (known !== undefined) return known
    if (this.statements.size >= MAX_STATEMENTS) this.statements.clear()
    const prepared = this.database.prepare(sql).raw()
    this.statements.set(sql, prepared)
    return prepared
  }
}

const BUSY_TIMEOUT_MS = 1000
const MAX_STATEMENTS = 500
const PRAGMAS = ['query_only = ON', 'cache_size = -16384', 'wal_autocheckpoint = 0']
