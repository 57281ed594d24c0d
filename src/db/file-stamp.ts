import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Gate } from './gate.ts'

type Queries = Pick<Gate, 'values'>

/**
 * Detects whether the open database file still has what SQLite wrote. `cp` over it keeps the file and replaces its content, and SQLite
 * continues with the newest pages, which are in memory and in the log.
 *
 * Only checkpoints write into the file. The first commit after each of them puts a new random number, the stamp, into the field of the
 * header that SQLite leaves to programs. So the file has the stamp that was seen there last, or one that was committed since. Older copies
 * and other databases have another one. A copy by `VACUUM INTO` may have it, but with a higher version of the schema.
 */
export class FileStamp {
  readonly #file: number
  /** The content at the last check. */
  #seen: Look
  /** The stamp in the file, and behind it those of later commits. */
  readonly #stamps: number[]
  #due: number | null = null

  /** Call it while SQLite has the file open. */
  static async begin(path: string, gate: Queries): Promise<FileStamp> {
    const [[committed] = []] = await gate.values('PRAGMA user_version')
    return new FileStamp(path, Number(committed))
  }

  private constructor(path: string, committed: number) {
    this.#file = openSync(path, 'r')
    this.#seen = this.#look()
    this.#stamps = [stampOf(this.#seen.header), committed]
    this.#makeStamp()
  }

  /** Whether a checkpoint or somebody else has written to the file since the last check. Call it before and after each commit. */
  get isWritten(): boolean {
    return !isEqual(this.#look(), this.#seen)
  }

  async isOverwritten(gate: Queries): Promise<boolean> {
    const before = this.#seen
    const now = this.#look()
    if (isEqual(now, before)) return false
    const size = await readSize(gate)
    // Another call has checked meanwhile.
    if (this.#seen !== before) return this.isOverwritten(gate)
    const stamp = this.#stamps.indexOf(stampOf(now.header))
    const isOlderOrOther = stamp < 0 || !now.header.toString('latin1').startsWith(MAGIC)
    const isVacuumed = schemaVersionOf(now.header) > size.schemaVersion
    // A checkpoint makes the file shorter only if the database got smaller.
    const isCut = now.bytes < Math.min(before.bytes, size.databaseBytes)
    if (isOlderOrOther || isVacuumed || isCut) return true
    this.#seen = now
    this.#stamps.splice(0, stamp)
    if (this.#due === null || this.#stamps.length === 1) this.#makeStamp()
    return false
  }

  /** The stamp that the next commit must have; null if the file was not written since the last one. */
  get due(): number | null {
    return this.#due
  }

  /** Call it after a commit that had this stamp. */
  committed(stamp: number): void {
    if (this.#due === stamp) this.#due = null
  }

  /** Call it only after SQLite has closed the file: closing it releases the locks that SQLite has on it. */
  close(): void {
    closeSync(this.#file)
  }

  #look(): Look {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(this.#file, header, 0, HEADER_BYTES, 0)
    return { header, bytes: fstatSync(this.#file).size }
  }

  #makeStamp(): void {
    this.#due = crypto.getRandomValues(new Int32Array(1))[0] ?? 0
    this.#stamps.push(this.#due)
  }
}

interface Look {
  header: Buffer
  bytes: number
}

const isEqual = (one: Look, other: Look): boolean => one.bytes === other.bytes && one.header.equals(other.header)

// https://sqlite.org/fileformat2.html#the_database_header
const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'
const schemaVersionOf = (header: Buffer): number => header.readUInt32BE(40)
const stampOf = (header: Buffer): number => header.readInt32BE(60)

async function readSize(gate: Queries): Promise<{ schemaVersion: number; databaseBytes: number }> {
  const [row = []] = await gate.values('SELECT * FROM pragma_schema_version, pragma_page_count, pragma_page_size')
  const [schemaVersion = 0, pages = 0, pageBytes = 0] = row.map(Number)
  return { schemaVersion, databaseBytes: pages * pageBytes }
}
