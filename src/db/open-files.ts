import { lstatSync } from 'node:fs'
import { SUFFIXES } from './database-file.ts'

/** Whether the paths of a database still lead to the files that this process has open. */
export class OpenFiles {
  readonly #known = new Map<string, string>()
  #writtenAt: bigint | null = null
  #wasWritten = false

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
      if (suffix === '' && file !== undefined) this.#noteWrite(file.mtimeNs)
    }
    return null
  }

  /** Whether `moved` has found since the last call that somebody had written into the database: a checkpoint, or `cp`. */
  wasWritten(): boolean {
    const wasWritten = this.#wasWritten
    this.#wasWritten = false
    return wasWritten
  }

  #noteWrite(at: bigint): void {
    this.#wasWritten ||= at !== this.#writtenAt
    this.#writtenAt = at
  }

  /** Call after the connection was closed: SQLite may have removed its log, and makes a new one. */
  closed(): void {
    for (const suffix of SUFFIXES) if (suffix !== '') this.#known.delete(`${this.path}${suffix}`)
  }
}
