import { type Client, type InArgs, type InStatement, type ResultSet, createClient } from '@libsql/client'

/**
 * The one door to the database: a serial queue in front of one connection.
 *
 * A statement of @libsql/client that fails with SQLITE_BUSY is never reset by the native binding; whatever the
 * connection says afterwards is acknowledged but not committed (tursodatabase/libsql-client-ts#352). So on BUSY
 * the gate reconnects before anything else runs, and repeats the whole unit: nothing reported BUSY was applied.
 */
export interface Gate {
  execute(statement: InStatement): Promise<ResultSet>
  /** One atomic unit, in write mode. */
  batch(statements: readonly InStatement[]): Promise<ResultSet[]>
  /** A client for Drizzle whose every call passes the queue; it knows no interactive transactions. */
  client: Client
  close(): Promise<void>
}

export interface GateOptions {
  url: string
  authToken: string | null
  /** Run on each new connection. */
  pragmas: readonly string[]
  /** For the test that shows what happens without it. */
  reconnectOnBusy?: boolean
}

/** How long one call may hold the event loop while another process has the write lock. */
const BUSY_TIMEOUT_MS = 250
const BUSY_RETRIES = 60
const BUSY_PAUSE_MS = 50

export async function openGate(options: GateOptions): Promise<Gate> {
  const raw = createClient({
    url: options.url,
    concurrency: 1,
    timeout: BUSY_TIMEOUT_MS,
    ...(options.authToken === null ? {} : { authToken: options.authToken }),
  })
  const connection = { poisoned: false }
  let tail: Promise<unknown> = Promise.resolve()

  const enqueue = <T>(call: () => Promise<T>): Promise<T> => {
    const result = tail.then(() => untilNotBusy(connection, call, reconnect))
    tail = result.catch(() => undefined)
    return result
  }
  const reconnect = async (): Promise<void> => {
    if (options.reconnectOnBusy !== false) {
      raw.reconnect()
      await applyPragmas(raw, options.pragmas)
    }
    connection.poisoned = false
  }

  await enqueue(() => applyPragmas(raw, options.pragmas))
  const execute = (statement: InStatement): Promise<ResultSet> => enqueue(() => raw.execute(statement))
  const batch = (statements: readonly InStatement[]): Promise<ResultSet[]> =>
    enqueue(() => raw.batch([...statements], 'write'))
  const close = async (): Promise<void> => {
    await tail
    raw.close()
  }
  return { execute, batch, close, client: drizzleClient(raw, execute, batch) }
}

/** A connection that was BUSY stays poisoned until it is replaced, which can itself be BUSY: then the next call tries again. */
async function untilNotBusy<T>(
  connection: { poisoned: boolean },
  call: () => Promise<T>,
  reconnect: () => Promise<void>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      if (connection.poisoned) await reconnect()
      return await call()
    } catch (error) {
      if (!isBusy(error)) throw error
      connection.poisoned = true
      // At once: the old connection may hold locks that others wait for.
      await reconnect().catch(() => undefined)
      if (tries >= BUSY_RETRIES) throw error
      await Bun.sleep(BUSY_PAUSE_MS)
    }
  }
}

async function applyPragmas(raw: Client, pragmas: readonly string[]): Promise<void> {
  for (const pragma of pragmas) await raw.execute(`PRAGMA ${pragma}`)
}

/** Drizzle calls `execute` and `batch` only; everything else is refused rather than let past the queue. */
function drizzleClient(raw: Client, execute: Gate['execute'], batch: Gate['batch']): Client {
  const allowed: Record<string, unknown> = {
    execute: (statement: InStatement, args?: InArgs) =>
      execute(typeof statement === 'string' && args !== undefined ? { sql: statement, args } : statement),
    batch: (statements: InStatement[]) => batch(statements),
    closed: false,
    protocol: raw.protocol,
  }
  return new Proxy(raw, { get: (_, name) => allowed[String(name)] ?? refuse })
}

function refuse(): never {
  throw new Error('Only execute and batch pass the gate: interactive transactions are forbidden')
}

const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error) ?? '')

/** True for a violated UNIQUE, CHECK, NOT NULL or FOREIGN KEY rule. */
export const isConstraint = (error: unknown): boolean => sqliteCode(error)?.startsWith('SQLITE_CONSTRAINT') ?? false

/** True when the storage itself failed (disk full, I/O, lock): every unit of a commit would meet the same. */
export const isStorageFault = (error: unknown): boolean =>
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|BUSY|LOCKED)/.test(sqliteCode(error) ?? '')

/** The SQLite result code of a failed call, also when Drizzle has wrapped it. */
function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return sqliteCode(error.cause)
}
