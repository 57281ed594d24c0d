import { closeSync, existsSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sizeOf } from './data-folder.ts'

/**
 * Where a gateway that stops saves a database whose file was deleted or replaced. In a container each process has the same id, and
 * `sgw restore` has renamed an earlier copy.
 */
export function savedPath(path: string): string {
  const name = `${path}.saved-${process.pid}`
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`
    if (!existsSync(free) && !existsSync(`${free}.old`)) return free
  }
}

/** The copies that gateways have saved of the database at this path, newest first. */
export function savedCopies(path: string): string[] {
  const folder = dirname(path)
  if (!existsSync(folder)) return []
  const prefix = `${basename(path)}.saved-`
  const names = readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && /^\d+(-\d+)?$/.test(name.slice(prefix.length)),
  )
  const ages = names.map((name) => ({ file: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
  return ages.toSorted((one, other) => other.at - one.at).map(({ file }) => file)
}

/** Why an empty database must not be created at this path: there was one before. Null if there is no sign of that. */
export function traceOfDatabase(path: string): string | null {
  const [saved] = savedCopies(path)
  if (saved !== undefined)
    return `${path} is missing or empty, but a gateway saved it as ${saved} when it was deleted: move that file to ${path}, or elsewhere to start with an empty database`
  if (!existsSync(`${path}.mark`)) return null
  return isWithoutItsLog(path) ? lostLog(path) : lostDatabase(path)
}

/**
 * Whether the file has no table, and no log beside it. A new database has everything in its log until the first checkpoint, and a log that
 * was deleted under a gateway is gone when the process ends.
 */
export function isWithoutItsLog(path: string): boolean {
  if (sizeOf(path) === 0 || sizeOf(`${path}-wal`) > 0) return false
  const head = Buffer.alloc(SCHEMA_CELLS + 2)
  const file = openSync(path, 'r')
  try {
    readSync(file, head, 0, head.length, 0)
  } finally {
    closeSync(file)
  }
  return (
    head.toString('latin1', 0, MAGIC.length) === MAGIC &&
    head.readUInt16BE(SCHEMA_CELLS) === 0 &&
    head[PAGE_TYPE] === LEAF
  )
}

// The SQLite file format: the first page has the root of the schema, and a schema of more than one page has an inner one.
const MAGIC = 'SQLite format 3\0'
const PAGE_TYPE = 100
const LEAF = 13
const SCHEMA_CELLS = 103

/** The refusal of a database whose log had everything. */
const lostLog = (path: string): string =>
  `${path} is empty, because its log was deleted: ${path}-wal had everything, and ${path}.mark says that a gateway has used it. Put the log back if you have it, or move ${path} away and restore the backup (sgw restore, docs/runbooks.md). Only to start with an empty database, remove ${path} and ${path}.mark`

/** The refusal of an empty database where another one has been used. */
export const lostDatabase = (path: string): string =>
  `${path} is missing or empty, but ${path}.mark says that a gateway has used it: check DATABASE_URL and that the volume is mounted, look for the file, or restore it (sgw restore, docs/runbooks.md). Only to start with an empty database, remove ${path}.mark`

/** The refusal of a database in place of the saved one. */
export const replacedDatabase = (path: string, saved: string): string =>
  `${path} is not the database that was used here last, which a gateway saved as ${saved} when it stopped: remove ${path}-wal and ${path}-shm, move ${saved} to ${path}, and start. To use the database that is there, move ${saved} elsewhere (docs/runbooks.md)`
