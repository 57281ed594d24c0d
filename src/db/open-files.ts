import { lstatSync } from 'node:fs'
import { SUFFIXES } from './database-file.ts'

/** Whether the paths of a database still lead to the files that this process has open. */
export class OpenFiles {
  readonly #known = new Map<string, string>()

  constructor(readonly path: string) {}

  /** The first file that was deleted or replaced; null if all are in place. Call it once when the database is open. */
  moved(): string | null {
    for (const suffix of SUFFIXES) {
      const name = `${this.path}${suffix}`
      const identity = identityOf(name)
      const known = this.#known.get(name)
      if (known !== undefined && known !== identity) return name
      if (identity !== null) this.#known.set(name, identity)
    }
    return null
  }

  /** Call after the connection was closed: SQLite may have removed its log, and makes a new one. */
  closed(): void {
    for (const suffix of SUFFIXES) if (suffix !== '') this.#known.delete(`${this.path}${suffix}`)
  }
}

function identityOf(path: string): string | null {
  const file = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return file === undefined ? null : `${file.dev}:${file.ino}`
}
