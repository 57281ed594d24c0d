import type { InValue } from '@libsql/client'
import { Connection } from '../connection.ts'
import type { Cell } from './list.ts'

/**
 * The reader thread's own connection: it sees what is committed and writes nothing. It must use the driver of the gate,
 * because two copies of SQLite in one process would release each other's file locks.
 */
export class ReadConnection {
  readonly #connection: Connection

  constructor(path: string) {
    this.#connection = new Connection(path, BUSY_TIMEOUT_MS)
    for (const pragma of PRAGMAS) this.#connection.execute(`PRAGMA ${pragma}`)
  }

  /** Rows as arrays. Every statement is read to its end: an unfinished one would keep its snapshot, and with it the WAL. */
  rows(sql: string, args: readonly Cell[]): Cell[][] {
    return this.#connection.values({ sql, args: args as InValue[] }) as Cell[][]
  }

  value(sql: string, args: readonly Cell[]): Cell {
    return this.rows(sql, args)[0]?.[0] ?? null
  }

  /** All that `read` reads is of one snapshot. */
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
