import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

const BUSY_TIMEOUT_MS = 5000

/** The database file and, for Litestream, its whole path. Errors: a database that is no file has no backup of ours. */
export function databasePath(context: CliContext): string {
  const { path } = context.config.database
  if (path === null) throw new CliError('DATABASE_URL names a server: its backup is not ours', EXIT.usage)
  return resolve(path)
}

/** Up to where a database has messages; 0 without any. */
export interface Newest {
  seq: number
  /** Epoch milliseconds. */
  at: number
}

export interface Inspected {
  /** Messages in it. */
  rows: number
  newest: Newest
  /** `ok`, or what SQLite finds wrong. */
  integrity: string
}

export const NOTHING: Newest = { seq: 0, at: 0 }
const MESSAGES = `SELECT count(*) AS rows, coalesce(max(seq), 0) AS seq,
  coalesce(max(created_at) FILTER (WHERE direction = 'outbound'), 0) AS at FROM messages`

/** Looks through a whole database file. */
export function inspect(path: string): Inspected {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    const integrity =
      database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check ?? 'no answer'
    const { rows, ...newest } = database.query<{ rows: number } & Newest, []>(MESSAGES).get() ?? { rows: 0, ...NOTHING }
    return { rows, newest, integrity }
  } catch (error) {
    return { rows: 0, newest: NOTHING, integrity: error instanceof Error ? error.message : 'unreadable' }
  } finally {
    database.close()
  }
}

/**
 * When the first message that a backup with this newest one does not have was accepted, epoch milliseconds; null when it
 * has all, or the live database cannot be read: then nothing is known against the backup.
 */
export function firstMissing(livePath: string, newest: Newest): number | null {
  try {
    using database = new Database(livePath, { readonly: true })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Inbound ones may have been received long before they were fetched. Numbers of deleted rows are used again.
    const messages = `SELECT min(created_at) AS at FROM messages WHERE direction = 'outbound' AND (seq > ? OR created_at > ?)`
    return database.query<{ at: number | null }, [number, number]>(messages).get(newest.seq, newest.at)?.at ?? null
  } catch {
    return null
  }
}

/** A database is up to three files; a restore of Litestream that ended early leaves as many. */
export const DATABASE_FILES = ['', '-wal', '-shm', '.tmp', '.tmp-wal', '.tmp-shm'] as const

export function removeDatabase(path: string): void {
  for (const suffix of DATABASE_FILES) rmSync(`${path}${suffix}`, { force: true })
}
