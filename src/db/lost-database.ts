import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Where a gateway that stops saves a database whose file was deleted or replaced. */
export const savedPath = (path: string): string => `${path}.saved-${process.pid}`

/** Why an empty database must not be created at this path: there was one. Null if nothing says so. */
export function traceOfDatabase(path: string): string | null {
  const saved = savedCopy(path)
  if (saved !== null)
    return `${path} is missing or empty, but a gateway saved it as ${saved} when it was deleted: move that file to ${path}, or elsewhere to start with an empty database`
  return existsSync(`${path}.mark`) ? lostDatabase(path) : null
}

/** The refusal of an empty database where another one has been used. */
export const lostDatabase = (path: string): string =>
  `${path} is missing or empty, but ${path}.mark says that a gateway has used it: check DATABASE_URL and that the volume is mounted, look for the file, or restore it (sgw restore, docs/damaged-database.md). Only to start with an empty database, remove ${path}.mark`

function savedCopy(path: string): string | null {
  const folder = dirname(path)
  if (!existsSync(folder)) return null
  const name = readdirSync(folder).find((one) => one.startsWith(`${basename(path)}.saved-`))
  return name === undefined ? null : join(folder, name)
}
