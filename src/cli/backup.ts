import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

export const BUSY_TIMEOUT_MS = 5000

/** The absolute path of the database file, which Litestream needs. Errors: the database is on a server. */
export function databasePath(context: CliContext): string {
  const { path } = context.config.database
  if (path === null) throw new CliError('DATABASE_URL names a server: back up the database there', EXIT.usage)
  return resolve(path)
}

/** The newest message of a database; zeros if it has none. */
export interface NewestMessage {
  seq: number
  /** Epoch milliseconds. */
  at: number
}

/** What `inspect` found in a database file. */
export interface Inspection {
  /** How many messages it has. */
  rows: number
  newest: NewestMessage
  /** `ok`, or the error that SQLite found. */
  integrity: string
}

export const NO_MESSAGE: NewestMessage = { seq: 0, at: 0 }
const MESSAGES = `SELECT count(*) AS rows, coalesce(max(seq), 0) AS seq,
  coalesce(max(created_at) FILTER (WHERE direction = 'outbound'), 0) AS at FROM messages`

/** Checks every page of a database file, and counts its messages. */
export function inspect(path: string): Inspection {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    const integrity =
      database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check ?? 'no answer'
    const { rows, ...newest } = database.query<{ rows: number } & NewestMessage, []>(MESSAGES).get() ?? {
      rows: 0,
      ...NO_MESSAGE,
    }
    return { rows, newest, integrity }
  } catch (error) {
    return { rows: 0, newest: NO_MESSAGE, integrity: error instanceof Error ? error.message : 'unreadable' }
  } finally {
    database.close()
  }
}

/**
 * When the oldest message that the backup lacks was accepted, in epoch milliseconds. `newest` is the newest message of the
 * backup. Null if the backup lacks none, or if the live database cannot be read.
 */
export function firstMissing(livePath: string, newest: NewestMessage): number | null {
  try {
    using database = new Database(livePath, { readonly: true })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Outbound only: an inbound message may be older than its row. The time matters too, because SQLite reuses the `seq` of deleted rows.
    const messages = `SELECT min(created_at) AS at FROM messages WHERE direction = 'outbound' AND (seq > ? OR created_at > ?)`
    return database.query<{ at: number | null }, [number, number]>(messages).get(newest.seq, newest.at)?.at ?? null
  } catch {
    return null
  }
}

/** Writes a file or a folder to the disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/** Suffixes of the files of a database, and of those that an interrupted restore of Litestream leaves. */
export const DATABASE_FILES = ['', '-wal', '-shm', '.tmp', '.tmp-wal', '.tmp-shm'] as const

export function removeDatabase(path: string): void {
  for (const suffix of DATABASE_FILES) rmSync(`${path}${suffix}`, { force: true })
}
