import { closeSync, openSync, readSync, statSync } from 'node:fs'

/**
 * Knows whether somebody has cut the write-ahead log of the open database. SQLite does not notice: it writes the next commit
 * where the log ended before, and the next start reads the log only up to the hole. A checkpoint that empties the log makes the
 * file shorter as well; after it, the next commit begins a new log. So a log that got shorter is judged after a commit.
 */
export class LogFile {
  #bytes = 0
  #isSuspect = false

  /** `path`: of the log. */
  constructor(readonly path: string) {}

  /** Whether the log got shorter and no commit has shown yet that it is whole. Call it before and after each commit. */
  isSuspect(): boolean {
    const bytes = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0
    this.#isSuspect ||= bytes < this.#bytes
    this.#bytes = bytes
    return this.#isSuspect
  }

  /** Call it after a commit into a log that is suspect. */
  isCut(): boolean {
    const state = this.#bytes === 0 ? 'empty' : stateOf(this.path)
    // Empty: another process has emptied it after the commit. The next commit will tell.
    if (state === 'whole') this.#isSuspect = false
    return state === 'cut'
  }
}

// The format of the log: https://sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682

/**
 * A whole log begins with the frames whose salt is that of the header. Frames behind them are left from before the last restart
 * of the log, and have other salts.
 */
function stateOf(path: string): 'whole' | 'cut' | 'empty' {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const header = readBytes(file, 0, HEADER_BYTES)
      if (header.length === 0) return 'empty'
      const state = hasHole(file, header) ? 'cut' : 'whole'
      // Otherwise another process has restarted the log meanwhile.
      if (header.equals(readBytes(file, 0, HEADER_BYTES))) return state
    }
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
