import type { InStatement, Value } from '@libsql/client'
import { SqliteConnection, type Result } from './connection.ts'
import { codeOf } from '../core/error-code.ts'
import { type Storage, isDamage } from './storage.ts'

/**
 * A serial queue in front of one connection. All access to the database goes through it.
 *
 * The native driver never resets a statement that fails with SQLITE_BUSY. Later writes on that connection are acknowledged
 * but not committed (tursodatabase/libsql-client-ts#352). So after BUSY the gate opens a new connection before anything else
 * runs. It then repeats the batch, none of which was applied.
 */
export interface Gate {
  execute(statement: InStatement): Promise<Result>
  /** The rows of a query, each as an array in the order of its columns. */
  values(statement: InStatement): Promise<Value[][]>
  /** One atomic unit, in write mode. */
  batch(statements: readonly InStatement[]): Promise<Result[]>
  close(): Promise<void>
}

export interface GateOptions {
  /** `file:PATH`, or `:memory:`. */
  url: string
  /** Run on each new connection. */
  pragmas: readonly string[]
  /** Gets commits and failures of the storage. */
  storage?: Storage
  /** False only in the test that shows what happens without it. */
  reconnectOnBusy?: boolean
}

/** How long one call may hold the event loop while another process has the write lock. */
const BUSY_TIMEOUT_MS = 250
const BUSY_RETRIES = 60
const BUSY_PAUSE_MS = 50

export async function openGate(options: GateOptions): Promise<Gate> {
  const holder: ConnectionHolder = {
    connection: null,
    open: () => connect(options),
    reconnects: options.reconnectOnBusy !== false,
    storage: options.storage,
  }
  let tail: Promise<unknown> = Promise.resolve()
  const enqueue = <T>(call: (connection: SqliteConnection) => T): Promise<T> => {
    const result = tail.then(() => untilNotBusy(holder, call))
    tail = result.catch(() => undefined)
    return result
  }
  await enqueue(() => undefined)
  return {
    execute: (statement) => enqueue((connection) => connection.execute(statement)),
    values: (statement) => enqueue((connection) => connection.values(statement)),
    batch: (statements) =>
      enqueue((connection) => {
        const results = connection.batch(statements)
        options.storage?.committed()
        return results
      }),
    close: async () => {
      await tail
      holder.connection?.close()
    },
  }
}

/** The gate's current connection, and how to open a new one. */
interface ConnectionHolder {
  /** Null after BUSY, until the next call opens a new one. */
  connection: SqliteConnection | null
  open(): SqliteConnection
  reconnects: boolean
  storage: Storage | undefined
}

function connect({ url, pragmas }: GateOptions): SqliteConnection {
  const connection = new SqliteConnection(url.replace(/^file:/, ''), BUSY_TIMEOUT_MS)
  try {
    for (const pragma of pragmas) connection.execute(`PRAGMA ${pragma}`)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opening a connection can also fail with BUSY: then the next attempt opens it. */
async function untilNotBusy<T>(holder: ConnectionHolder, call: (connection: SqliteConnection) => T): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return call((holder.connection ??= holder.open()))
    } catch (error) {
      const isLast = !isBusy(error) || tries >= BUSY_RETRIES
      if (isLast && isStorageFault(error)) holder.storage?.failed(codeOf(error) ?? '')
      // Immediately, because the old connection may hold locks that other processes wait for.
      if (isBusy(error) && holder.reconnects) drop(holder)
      if (isLast) throw error
      await Bun.sleep(BUSY_PAUSE_MS)
    }
  }
}

/** A file that was deleted, replaced or overwritten stays open: the next connection would read what is there now. */
function drop(holder: ConnectionHolder): void {
  if (holder.storage?.isLost === true) return
  holder.connection?.close()
  holder.connection = null
  holder.storage?.files?.closed()
}

/** True while another connection holds a lock. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error) ?? '')

/** True for a violated UNIQUE, CHECK, NOT NULL or FOREIGN KEY rule. */
export const isConstraint = (error: unknown): boolean => codeOf(error)?.startsWith('SQLITE_CONSTRAINT') ?? false

/** True when the storage itself failed (disk full, I/O, lock), so that every unit of a commit would fail. */
export const isStorageFault = (error: unknown): boolean => SQLITE_FAULT.test(codeOf(error) ?? '')

/** The same for a code, which may also be the operating system's, for a file beside the database. */
export const isStorageCode = (code: string): boolean => SQLITE_FAULT.test(code) || FILE_FAULT.test(code)

const SQLITE_FAULT = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|BUSY|LOCKED)/
const FILE_FAULT = /^(ENOSPC|EDQUOT|EFBIG|EROFS|EIO)$/

/** The message for an operator if the error means that the file is damaged; null for any other error. */
export function damageOf(error: unknown, path: string): string | null {
  const code = codeOf(error) ?? ''
  return isDamage(code) ? damagedText(path, code) : null
}

export const damagedText = (path: string, code: string): string =>
  `The database ${path} is damaged (${code}): do not start it again before you have read docs/runbooks.md`
