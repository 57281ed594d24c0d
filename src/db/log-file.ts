import { closeSync, openSync, readSync, statSync } from 'node:fs'

/**
 * Knows whether somebody has cut the write-ahead log of the open database. SQLite does not notice: it writes the next commit
 * where the log ended before, and the next start reads the log only up to the hole. A checkpoint that empties the log makes the
 * file shorter as well; after it, the next commit begins a new log. So a log that got shorter is judged after a commit.
 */
export class LogFile {
  #bytes = 0
  /** What was left of the log when it got shorter. Null once it has shown to be whole. */
  #shrunkTo: number | null = null

  /** `path`: of the log. */
  constructor(readonly path: string) {}

  /** Whether the log got shorter and no commit has shown yet that it is whole. Call it before each commit. */
  isSuspect(): boolean {
    const bytes = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
    if (bytes < this.#bytes) this.#shrunkTo = bytes
    this.#bytes = bytes
    return this.#shrunkTo !== null
  }

  /** Call it after each commit. */
  isCut(): boolean {
    const before = this.#bytes
    const isSuspect = this.isSuspect() || (this.#bytes > before && isHole(this.path, before))
    // A commit that changed no row has written nothing. The next one will tell.
    if (!isSuspect || this.#bytes <= (this.#shrunkTo ?? 0)) return false
    const state = stateOf(this.path)
    if (state === 'whole') this.#shrunkTo = null
    return state === 'cut'
  }
}

// The format of the log: https://sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682

/** Whether the frame that ends here has no salt: the log was cut just before the commit, which made it longer than it had been. */
const isHole = (path: string, end: number): boolean =>
  read(path, false, (file) => {
    const header = readBytes(file, 0, HEADER_BYTES)
    const frameBytes = FRAME_HEADER_BYTES + (header.length < HEADER_BYTES ? 0 : header.readUInt32BE(8))
    const frames = Math.floor((end - HEADER_BYTES) / frameBytes)
    return frames > 0 && readBytes(file, HEADER_BYTES + (frames - 1) * frameBytes + 8, 8).equals(NO_SALT)
  })

const NO_SALT = Buffer.alloc(8)

/**
 * A whole log begins with the frames whose salt is that of the header. Frames behind them are left from before the last restart
 * of the log, and have other salts.
 */
const stateOf = (path: string): 'whole' | 'cut' | 'unknown' =>
  read(path, 'unknown', (file) => {
    for (;;) {
      const header = readBytes(file, 0, HEADER_BYTES)
      // Another process has emptied it after the commit.
      if (header.length === 0) return 'unknown'
      const state = hasHole(file, header) ? 'cut' : 'whole'
      // Otherwise another process has restarted the log meanwhile.
      if (header.equals(readBytes(file, 0, HEADER_BYTES))) return state
    }
  })

/** Returns `otherwise` if no file descriptor is left: the commit has been made, so it must not fail. */
function read<T>(path: string, otherwise: T, run: (file: number) => T): T {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return otherwise
  }
  try {
    return run(file)
  } finally {
    // SQLite locks the database and its index, but not the log: closing it releases nothing.
    closeSync(file)
  }
}

function hasHole(file: number, header: Buffer): boolean {
  if (header.length < HEADER_BYTES || (header.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return true
  const salt = header.subarray(16, 24)
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  let isBehind = false
  for (let at = HEADER_BYTES; ; at += frameBytes) {
    const found = readBytes(file, at + 8, salt.length)
    if (found.length < salt.length) return false
    if (!found.equals(salt)) isBehind = true
    else if (isBehind) return true
  }
}

function readBytes(file: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, position))
}
