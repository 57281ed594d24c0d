import { lstatSync } from 'node:fs'
import { SUFFIXES } from './database-file.ts'

/** Checks whether the paths of a database still lead to the files that this process has open. */
export class OpenFiles {
  readonly #known = new Map<string, string>()

  constructor(readonly path: string) {}

  /** The first file that was deleted or replaced; null if all are in place. Call it once when the database is open. */
  moved(): string | null {
    for (const suffix of SUFFIXES) {
      const name = `${this.path}${suffix}`
      const file = lstatSync(name, { bigint: true, throwIfNoEntry: false })
      const identity = file === undefined ? null : `${file.dev}:${file.ino}`
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
