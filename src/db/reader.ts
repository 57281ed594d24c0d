import type { Value } from '@libsql/client'
import { atMost } from '../core/at-most.ts'
import { Limiter, type Slot } from '../core/limiter.ts'
import { type Argument, type Row, named } from './connection.ts'
import type { Gate } from './gate.ts'
import type { ReadQuery, ThreadAnswer, ThreadRequest } from './reader-thread.ts'

/** Queries that may take longer than a millisecond. None of them holds the event loop. */
export interface Reader {
  /**
   * The rows of one SELECT without BLOBs, on one snapshot that has every commit acknowledged before. Reads run one at a time, and tenants
   * take turns.
   */
  longRead(tenantId: string, sql: string, args: readonly Argument[]): Promise<Row[]>
  /** `ok`, or what SQLite found in the file, or in one table and its indexes. Reads it from the disk, because pages in memory may be better. */
  checkFile(table?: string): Promise<string>
  close(): Promise<void>
}

/** A database in memory has no file for a second connection: everything is read through the gate. */
export const openReader = (gate: Gate, path: string | null): Reader =>
  path === null ? readerOf(gate) : new ReaderThread(path)

/** Reads through the gate. */
export const readerOf = (gate: Gate): Reader => ({
  longRead: async (_tenantId, sql, args) => (await gate.execute({ sql, args: [...args] })).rows,
  checkFile: async (table) => verdictOf((await gate.execute(checkOf(table))).rows),
  close: () => Promise.resolve(),
})

const checkOf = (table: string | undefined): string =>
  `PRAGMA quick_check(${table === undefined ? '1' : `'${table.replaceAll("'", "''")}'`})`

const verdictOf = ([row]: readonly Row[]): string => String(row?.['quick_check'] ?? 'no answer')

/** How long closing waits for the read in progress. */
const CLOSE_MS = 1000

/** Threads of databases that are closed. The next database takes one: to start one costs as much processor as half of a gateway. */
const idle: Worker[] = []

/**
 * One thread with one read-only connection. It starts with the database and is kept: starting a thread when the process has no file
 * descriptor left would end the process.
 */
class ReaderThread implements Reader {
  readonly #turns = new Limiter({ total: 1, perTenant: 1 })
  readonly #ended = Promise.withResolvers<void>()
  /** Aborted when the thread may have another database. */
  readonly #left = new AbortController()
  readonly #thread: Worker
  #running: Read | null = null
  #isClosed = false
  /** Why no more reads are possible. */
  #refusal: Error | null = null

  constructor(path: string) {
    this.#thread = idle.pop() ?? startThread()
    const hear = this.#thread.addEventListener.bind(this.#thread)
    const { signal } = this.#left
    hear('message', ({ data }: MessageEvent<ThreadAnswer>) => this.#answered(data), { signal })
    hear('error', ({ message }) => this.#refuse(`The reader thread failed: ${message}`), { signal })
    hear('close', () => (this.#refuse('The reader thread has ended'), this.#ended.resolve()), { signal })
    this.#post({ type: 'open', path })
  }

  longRead(tenantId: string, sql: string, args: readonly Argument[]): Promise<Row[]> {
    return this.#read(tenantId, { sql, args, fromDisk: false })
  }

  async checkFile(table?: string): Promise<string> {
    return verdictOf(await this.#read('operator', { sql: checkOf(table), args: [], fromDisk: true }))
  }

  #read(tenantId: string, query: ReadQuery): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#turns.request(tenantId, [], (turn) => this.#begin({ ...query, resolve, reject, turn }))
    })
  }

  /** Waits until the thread has closed its connection, which would hold the database and its WAL file. */
  async close(): Promise<void> {
    // The thread may have another database by now.
    if (this.#isClosed) return
    this.#isClosed = true
    this.#refuse('The database is closed')
    this.#post({ type: 'close' })
    await atMost(CLOSE_MS, this.#ended.promise)
  }

  #begin(read: Read): void {
    if (this.#refusal !== null) {
      read.reject(this.#refusal)
      return read.turn.release()
    }
    this.#running = read
    this.#post({ type: 'read', sql: read.sql, args: read.args, fromDisk: read.fromDisk })
  }

  #answered(answer: ThreadAnswer): void {
    if ('closed' in answer) return this.#leave()
    const read = this.#running
    this.#running = null
    read?.turn.release()
    if ('failure' in answer) return read?.reject(Object.assign(new Error(answer.failure), { code: answer.code }))
    const rows = JSON.parse(answer.rows) as Value[][]
    read?.resolve(rows.map((values) => named(answer.columns, values)))
  }

  #leave(): void {
    this.#left.abort()
    idle.push(this.#thread)
    this.#ended.resolve()
  }

  /** Rejects the read in progress, waiting reads, and all later ones. */
  #refuse(reason: string): void {
    this.#refusal ??= new Error(reason)
    this.#running?.reject(this.#refusal)
    this.#running?.turn.release()
  }

  #post(request: ThreadRequest): void {
    this.#thread.postMessage(request)
  }
}

interface Read extends ReadQuery {
  resolve(rows: Row[]): void
  reject(error: unknown): void
  turn: Slot
}

function startThread(): Worker {
  const thread = new Worker(threadUrl(), { smol: true })
  thread.unref()
  return thread
}

/** In a bundle the thread's file is beside the entry point. */
const threadUrl = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.js', import.meta.url).href
