import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataFolder } from './data-folder.ts'

/**
 * Bytes that wait to be stored, beside the database and not in memory. The file has no name once it is open, so nothing is left of it however
 * the process ends.
 */
export class SpoolFile implements Disposable {
  readonly #file: number
  size = 0

  /** `database`: the path of the database; null if it is in memory. */
  constructor(database: string | null) {
    const path = join(database === null ? tmpdir() : dataFolder(database), `upload-${crypto.randomUUID()}`)
    this.#file = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
  }

  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const written = writeSync(this.#file, bytes, from, bytes.length - from, this.size)
      from += written
      this.size += written
    }
  }

  /** The bytes from a position, as many as fit into `target` or remain. */
  read(position: number, target: Uint8Array): Uint8Array {
    return target.subarray(0, readSync(this.#file, target, 0, target.length, position))
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}
