import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Gate } from './gate.ts'

/**
 * Knows whether the content of the open database file is still ours: `cp` over it keeps the file and replaces the content.
 * SQLite does not notice, and a second connection of this process reads the newest pages from the log, which hides it. So this
 * reads the file itself, past the log: two pages at a time.
 *
 * Only checkpoints write into the file. So the last numbers of its AUTOINCREMENT tables, which each message raises, never go
 * down there, and are never ahead of those that SQLite reports. Nor is the schema's version, which each copy by VACUUM raises.
 * The database's application id is a random number of its own.
 */
export class FileContent {
  readonly #file: number
  /** What the file had when it was last read. Null while it may lack the table: at first everything is in the log. */
  #seen: FileState | null = null
  #reported: Reported | null = null
  #writtenAt = 0n

  /** Call it while SQLite has the file open. */
  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.wasWritten()
  }

  /** Whether somebody has overwritten the file. `isSound` reads all of it, and is asked only about a file that got shorter. */
  async isOverwritten(gate: Pick<Gate, 'values'>, isSound: () => Promise<boolean>): Promise<boolean> {
    // Another process may be writing a checkpoint: what it has written by halves is complete at the next look.
    for (let looks = 1; ; looks++) {
      const found = await this.#look(gate)
      if (found === 'sound') return false
      if (looks < LOOKS) await Bun.sleep(BETWEEN_LOOKS_MS)
      else if (found === 'overwritten') return true
      else return !(await isSound())
    }
  }

  /** Whether somebody has written into the file since the last call: a checkpoint, or `cp`. */
  wasWritten(): boolean {
    const before = this.#writtenAt
    this.#writtenAt = fstatSync(this.#file, { bigint: true }).mtimeNs
    return this.#writtenAt !== before
  }

  /** Call it only after SQLite has closed the file: closing it releases the locks that SQLite has on it. */
  close(): void {
    closeSync(this.#file)
  }

  async #look(gate: Pick<Gate, 'values'>): Promise<'sound' | 'overwritten' | 'shorter'> {
    const before = this.#reported ?? (await report(gate))
    const raw = readFile(this.#file, before.root)
    if (raw === null) return 'overwritten'
    const now = await report(gate)
    // Until VACUUM is in the file, another table has the page there.
    if ([...(raw.numbers?.keys() ?? [])].some((name) => !now.numbers.has(name))) raw.numbers = null
    if (isLower(now.numbers, before.numbers)) return 'overwritten'
    this.#reported = now
    // VACUUM has moved the table, perhaps not in the file yet.
    if (now.root !== before.root) this.#seen = null
    else if (!this.#isLater(raw, now)) return 'overwritten'
    else if (this.#isShorter(raw, now)) return 'shorter'
    else this.#seen = raw
    return 'sound'
  }

  #isLater(raw: FileState, now: Reported): boolean {
    const seen = this.#seen
    if (raw.version > now.version || raw.version < (seen?.version ?? 0)) return false
    if (raw.applicationId !== now.applicationId && seen !== null && raw.applicationId !== seen.applicationId)
      return false
    if (raw.numbers === null) return (seen?.numbers ?? null) === null
    return !isLower(raw.numbers, seen?.numbers) && !isLower(now.numbers, raw.numbers)
  }

  /** A checkpoint makes the file shorter only if the database got smaller. */
  #isShorter(raw: FileState, now: Reported): boolean {
    const bytes = this.#seen?.bytes ?? 0
    return raw.bytes < bytes && bytes <= now.pages * raw.pageBytes
  }
}

const LOOKS = 4
const BETWEEN_LOOKS_MS = 100

/** The last number of each AUTOINCREMENT table. */
type Numbers = ReadonlyMap<string, number>

const isLower = (numbers: Numbers, than: Numbers | null | undefined): boolean =>
  [...(than ?? [])].some(([name, number]) => (numbers.get(name) ?? -1) < number)

/** What SQLite says of the database, log and memory included. */
interface Reported {
  root: number
  numbers: Numbers
  version: number
  applicationId: number
  pages: number
}

const REPORT = `SELECT (SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'),
  (SELECT schema_version FROM pragma_schema_version), (SELECT application_id FROM pragma_application_id),
  (SELECT page_count FROM pragma_page_count), name, seq FROM (SELECT 1) LEFT JOIN sqlite_sequence`

async function report(gate: Pick<Gate, 'values'>): Promise<Reported> {
  const rows = await gate.values(REPORT)
  const [root, version, applicationId, pages] = (rows[0] ?? []).map(Number)
  const numbers = new Map(rows.flatMap((row) => (row[4] === null ? [] : [[String(row[4]), Number(row[5])] as const])))
  return { root: root ?? 0, numbers, version: version ?? 0, applicationId: applicationId ?? 0, pages: pages ?? 0 }
}

/** What the file says, without the log. */
interface FileState {
  bytes: number
  pageBytes: number
  version: number
  applicationId: number
  /** Null if the page of the table is not that of such a table. */
  numbers: Numbers | null
}

// The format of the file: https://sqlite.org/fileformat2.html
const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

/** Null if the file is no database. `root`: the page of `sqlite_sequence`. */
function readFile(file: number, root: number): FileState | null {
  const header = read(file, 0, HEADER_BYTES)
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  return {
    bytes: fstatSync(file).size,
    pageBytes,
    version: header.readUInt32BE(40),
    applicationId: header.readInt32BE(68),
    numbers: readNumbers(read(file, (root - 1) * pageBytes, pageBytes)),
  }
}

function read(file: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  readSync(file, buffer, 0, bytes, position)
  return buffer
}

const LEAF_OF_TABLE = 0x0d
const LEAF_HEADER_BYTES = 8

/** The rows `(name, seq)` of a page. */
function readNumbers(page: Buffer): Numbers | null {
  if (page[0] !== LEAF_OF_TABLE) return null
  try {
    const cells = Array.from({ length: page.readUInt16BE(3) }, (_, cell) =>
      page.readUInt16BE(LEAF_HEADER_BYTES + 2 * cell),
    )
    return new Map(cells.map((at) => readRow(page, at)))
  } catch {
    return null
  }
}

/** A cell has its length, the row id, the length of the record's header, a type for each column, and the values. */
function readRow(page: Buffer, cell: number): [string, number] {
  let at = cell
  const varint = (): number => {
    for (let value = 0; ; value *= 128) {
      const byte = page.readUInt8(at++)
      value += byte & 0x7f
      if (byte < 0x80) return value
    }
  }
  varint()
  varint()
  varint()
  const nameBytes = (varint() - 13) / 2
  const type = varint()
  const numberBytes = [0, 1, 2, 3, 4, 6, 8][type]
  const name = page.toString('utf8', at, at + nameBytes)
  if (numberBytes === 8) return [name, Number(page.readBigInt64BE(at + nameBytes))]
  // The types 8 and 9 are the numbers 0 and 1.
  return [name, numberBytes ? page.readIntBE(at + nameBytes, numberBytes) : Math.max(0, type - 8)]
}
