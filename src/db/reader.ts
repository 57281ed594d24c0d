import type { Value } from '@libsql/client'
import { atMost } from '../core/at-most.ts'
import { type Argument, type Row, named } from './connection.ts'
import { FairQueue } from './fair-queue.ts'
import type { Gate } from './gate.ts'
import type { ReadQuery, ThreadAnswer, ThreadRequest } from './reader-thread.ts'

/** Queries that may take longer than a millisecond. None of them holds the event loop. */
export interface Reader {
  /**
   * The rows of one SELECT without BLOBs, on one snapshot that has every commit acknowledged before. Reads run one at a time, and tenants
   * take turns.
   */
  longRead(tenantId: string, sql: string, args: readonly Argument[]): Promise<Row[]>
  close(): Promise<void>
}

/** A database in memory has no file for a second connection: everything is read through the gate. */
export const openReader = (gate: Gate, path: string | null): Reader =>
  path === null ? readerOf(gate) : new ReaderThread(path)

/** Reads through the gate. */
export const readerOf = (gate: Gate): Reader => ({
  longRead: async (_tenantId, sql, args) => (await gate.execute({ sql, args: [...args] })).rows,
  close: () => Promise.resolve(),
})

/** How long closing waits for the read that is under way. */
const CLOSE_MS = 1000

/**
 * One thread with one read-only connection. It starts with the database and is kept: starting a thread when the process has no file
 * descriptor left would end the process.
 */
class ReaderThread implements Reader {
  readonly #queue = new FairQueue<Read>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #thread: Worker
  #running: Read | null = null
  /** Why no more reads are possible. */
  #refusal: Error | null = null

  constructor(path: string) {
    this.#thread = new Worker(threadUrl(), { smol: true })
    this.#thread.unref()
    this.#thread.addEventListener('message', ({ data }: MessageEvent<ThreadAnswer>) => this.#answered(data))
    this.#thread.addEventListener('error', ({ message }) => this.#refuse(`The reader thread failed: ${message}`))
    this.#thread.addEventListener('close', () => (this.#refuse('The reader thread has ended'), this.#ended.resolve()))
    this.#post({ type: 'open', path })
  }

  longRead(tenantId: string, sql: string, args: readonly Argument[]): Promise<Row[]> {
    if (this.#refusal !== null) return Promise.reject(this.#refusal)
    return new Promise((resolve, reject) => {
      this.#queue.add(tenantId, { sql, args, resolve, reject })
      this.#next()
    })
  }

  /** Lets the thread close its connection before it ends: otherwise the connection and its WAL file would outlive it. */
  async close(): Promise<void> {
    this.#refuse('The database is closed')
    this.#post({ type: 'close' })
    await atMost(CLOSE_MS, this.#ended.promise)
  }

  #next(): void {
    if (this.#running !== null) return
    const read = this.#queue.take()
    if (read === undefined) return
    this.#running = read
    this.#post({ type: 'read', sql: read.sql, args: read.args })
  }

  #answered(answer: ThreadAnswer): void {
    const read = this.#running
    this.#running = null
    this.#next()
    if ('failure' in answer) return read?.reject(Object.assign(new Error(answer.failure), { code: answer.code }))
    const rows = JSON.parse(answer.rows) as Value[][]
    read?.resolve(rows.map((values) => named(answer.columns, values)))
  }

  #refuse(reason: string): void {
    this.#refusal ??= new Error(reason)
    this.#running?.reject(this.#refusal)
    for (let read = this.#queue.take(); read !== undefined; read = this.#queue.take()) read.reject(this.#refusal)
  }

  #post(request: ThreadRequest): void {
    this.#thread.postMessage(request)
  }
}

interface Read extends ReadQuery {
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

/** In a bundle the thread's file is beside the entry point. */
const threadUrl = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? './reader-thread.ts' : './reader-thread.js', import.meta.url).href
