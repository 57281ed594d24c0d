import type { InValue } from '@libsql/client'
import { SqliteConnection } from '../connection.ts'
import type { Cell } from './list.ts'

/**
 * The reader thread's own connection, which never writes. It must use the driver of the gate, because two copies of SQLite in one
 * process would release each other's file locks.
 */
export class ReadConnection {
  readonly #connection: SqliteConnection

  constructor(path: string) {
    this.#connection = new SqliteConnection(path, BUSY_TIMEOUT_MS)
    for (const pragma of PRAGMAS) this.#connection.execute(`PRAGMA ${pragma}`)
  }

  /** Rows as arrays. Reads every statement to its end: an unfinished one would keep its snapshot, and thereby the WAL. */
  rows(sql: string, args: readonly Cell[]): Cell[][] {
    return this.#connection.values({ sql, args: args as InValue[] }) as Cell[][]
  }

  value(sql: string, args: readonly Cell[]): Cell {
    return this.rows(sql, args)[0]?.[0] ?? null
  }

  /** Runs `read` on one snapshot. */
  snapshot<T>(read: () => T): T {
    this.#connection.execute('BEGIN')
    try {
      return read()
    } finally {
      this.#connection.execute('COMMIT')
    }
  }

  close(): void {
    this.#connection.close()
  }
}

const BUSY_TIMEOUT_MS = 1000
const PRAGMAS = ['query_only = ON', 'cache_size = -16384', 'wal_autocheckpoint = 0']
