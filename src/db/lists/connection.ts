import type { InValue } from '@libsql/client'
import { Connection } from '../connection.ts'
import type { Cell } from './list.ts'

/**
 * The reader's own connection: it sees what is committed, and writes nothing. It must be of the same driver as the gate:
 * two copies of SQLite in one process would drop each other's file locks.
 */
export class ReadConnection {
  readonly #connection: Connection

  constructor(path: string) {
    this.#connection = new Connection(path, BUSY_TIMEOUT_MS)
    for (const pragma of PRAGMAS) this.#connection.execute(`PRAGMA ${pragma}`)
  }

  /** Rows as arrays. Every statement is read to its end: one left half-way would hold its snapshot, and with it the WAL. */
  rows(sql: string, args: readonly (Cell | Uint8Array)[]): Cell[][] {
    return this.#connection.values({ sql, args: args as InValue[] }) as Cell[][]
  }

  value(sql: string, args: readonly Cell[]): Cell {
    return this.rows(sql, args)[0]?.[0] ?? null
  }

  blob(sql: string, args: readonly Cell[]): Uint8Array | null {
    return (this.value(sql, args) as Uint8Array | null) ?? null
  }

  /** Everything in it is read from one snapshot. */
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
