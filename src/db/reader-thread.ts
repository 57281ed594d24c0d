import { existsSync } from 'node:fs'
import { type Argument, SqliteConnection } from './connection.ts'
import { codeOf } from '../core/error-code.ts'

// The reader thread: runs one query at a time on a connection that cannot write. It reads one database after the other.

export type ThreadRequest = { type: 'open'; path: string } | ({ type: 'read' } & ReadQuery) | { type: 'close' }

export interface ReadQuery {
  sql: string
  args: readonly Argument[]
  /** Whether it must read all of its pages from the disk: none of them may be in memory before, and none is afterward. */
  fromDisk: boolean
}

/**
 * The answer to a read, or to `close`. `rows`: JSON with an array for each row, because text passes between threads in half the time of arrays.
 * `code`: SQLite's result code.
 */
export type ThreadAnswer =
  | { columns: readonly string[]; rows: string }
  | { failure: string; code: string | null }
  | { closed: true }

declare const self: Worker

const BUSY_TIMEOUT_MS = 1000
/** `temp_store`: a sort must not need a file, because the process may have no file descriptor left. */
const PRAGMAS = ['query_only = ON', 'cache_size = -16384', 'wal_autocheckpoint = 0', 'temp_store = MEMORY']

let path = ''
let connection: SqliteConnection | null = null

self.addEventListener('message', ({ data: request }: MessageEvent<ThreadRequest>) => {
  if (request.type === 'read') self.postMessage(answer(request))
  else if (request.type === 'open') open(request.path)
  else end()
})

function open(databasePath: string): void {
  path = databasePath
  try {
    connection = openConnection()
  } catch {
    // The next read opens it, or fails with the reason.
  }
}

function answer({ sql, args, fromDisk }: ReadQuery): ThreadAnswer {
  try {
    connection ??= openConnection()
    if (fromDisk) connection.execute(FORGET_PAGES)
    const { columns, rows } = connection.table({ sql, args: [...args] })
    if (fromDisk) connection.execute(FORGET_PAGES)
    return { columns, rows: JSON.stringify(rows) }
  } catch (error) {
    // The driver never resets a statement that has failed: see the gate.
    renewConnection()
    return { failure: error instanceof Error ? error.message : String(error), code: codeOf(error) }
  }
}

const FORGET_PAGES = 'PRAGMA shrink_memory'

function renewConnection(): void {
  connection?.close()
  connection = null
}

/** Uses the driver of the gate, because two copies of SQLite in one process would release each other's file locks. */
function openConnection(): SqliteConnection {
  // SQLite would create an empty database in place of one that was deleted.
  if (!existsSync(path)) throw Object.assign(new Error(`${path} is gone`), { code: 'SQLITE_CANTOPEN' })
  const opened = new SqliteConnection(path, BUSY_TIMEOUT_MS)
  for (const pragma of PRAGMAS) opened.execute(`PRAGMA ${pragma}`)
  // Opens the files, so that later reads need no file descriptor.
  opened.execute('SELECT count(*) FROM sqlite_schema')
  return opened
}

/** The driver closes the files only when the garbage collector runs. */
function end(): void {
  renewConnection()
  Bun.gc(true)
  self.postMessage({ closed: true } satisfies ThreadAnswer)
}
