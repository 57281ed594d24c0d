import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { savedCopies } from '../../db/lost-database.ts'
import { NOTE_FACT, markIfNothingLost } from '../../db/restore-mark.ts'

export const BUSY_TIMEOUT_MS = 5000

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
 * Records in a copy when it was restored, in epoch milliseconds, because a start that finds that nothing was lost records nothing. Only the
 * operator sees it, so a copy that cannot be written is restored anyway.
 */
export function noteRestored(copy: string, at: number): void {
  try {
    using database = new Database(copy, { readwrite: true, create: false })
    database.run(NOTE_FACT, ['restored_at', String(at)])
  } catch {
    // The start finds out what is wrong with it.
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

/** Suffixes of a database's files, and of the files that an interrupted Litestream restore leaves. */
const DATABASE_FILES = ['', '-wal', '-shm', '.tmp', '.tmp-wal', '.tmp-shm'] as const

export function removeDatabase(path: string): void {
  for (const suffix of DATABASE_FILES) rmSync(`${path}${suffix}`, { force: true })
}

/** Changes with every byte that arrives in a database. */
export function progressOf(target: string): string {
  const files = DATABASE_FILES.map((suffix) => statSync(`${target}${suffix}`, { throwIfNoEntry: false }))
  return files.map((file) => `${file?.size} ${file?.mtimeMs}`).join()
}

/** Removes all files whose paths begin with the prefix. */
export function removeFilesNamed(start: string): void {
  for (const name of readdirSync(dirname(start)))
    if (name.startsWith(basename(start))) rmSync(join(dirname(start), name), { force: true })
}

/** Moves a copy into the place of a lost database, and deals with the files that the old one left. `say` reports a saved database. */
export function putInPlace(copy: string, path: string, isReplicated: boolean, say: (text: string) => void): void {
  moveIntoPlace(copy, path)
  keepSaved(path, say)
  // After a time with `disk`, the operator also restores with `disk`: see docs/beyond-one-machine.md.
  if (isReplicated) markWhole(path)
}

/** Moves the copy into place. Removes the old write-ahead log and Litestream's state, which belong to the lost database. */
function moveIntoPlace(copy: string, path: string): void {
  removeDatabase(path)
  forgetReplication(path)
  flush(copy)
  renameSync(copy, path)
  removeDatabase(copy)
  flush(dirname(path))
}

/** Litestream keeps its progress beside the database. A different copy starts from the beginning. */
export function forgetReplication(path: string): void {
  rmSync(join(dirname(path), `.${basename(path)}-litestream`), { recursive: true, force: true })
}

/** Under its old name it would make the start refuse the restored database, which lacks what the copy has. */
function keepSaved(path: string, say: (text: string) => void): void {
  for (const saved of savedCopies(path)) {
    renameSync(saved, `${saved}.old`)
    say(
      `A gateway saved the database that was here before: ${saved} is now ${saved}.old. It may have newer messages than the backup (docs/runbooks.md)`,
    )
  }
}

/**
 * A gateway that acknowledged nothing before the backup had it has lost nothing: its messages need not be looked up before they are sent. If
 * this cannot be read, they are looked up.
 */
function markWhole(path: string): void {
  try {
    using database = new Database(path, { readwrite: true, create: false })
    markIfNothingLost(`${path}.mark`, (sql) => database.query<Record<string, unknown>, []>(sql).all())
  } catch {
    // The next start finds no mark.
  }
}
