import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Detects whether somebody has truncated the write-ahead log of the open database. SQLite does not notice: it writes the next commit at the
 * old end of the log, and the next start reads the log only up to the hole. The index of the log (`-shm`), which all connections share, says
 * how many frames SQLite has committed. The log must have them all.
 */
export class LogEnd {
  #files: Files | null
  /** The log at the last check. */
  #seen = { frames: 0, bytes: 0 }

  /** Call it while SQLite has the files open. `path`: of the database. */
  constructor(readonly path: string) {
    this.#files = openFiles(path)
  }

  /** Call it before and after each commit. */
  isCut(): boolean {
    this.#files ??= openFiles(this.path)
    const files = this.#files
    if (files === null) return false
    const { frames, frameBytes } = readCommitted(files)
    const { size: bytes, nlink } = fstatSync(files.log)
    if (nlink === 0) return this.#areRemade(files) && this.isCut()
    const isShort = frames > 0 && bytes < LOG_HEADER_BYTES + frames * frameBytes
    // A commit right after a truncation makes the log longer again, and leaves a hole in place of the last frame.
    const hasGrown = frames > this.#seen.frames && bytes !== this.#seen.bytes
    if (isShort || (hasGrown && isHole(files, this.#seen.frames, frameBytes)))
      // A process that empties the log first says so in the index.
      return readCommitted(files).frames === frames || this.isCut()
    this.#seen = { frames, bytes }
    return false
  }

  /** Call it only after SQLite has closed the index: closing it releases the locks that SQLite has on it. */
  close(): void {
    if (this.#files === null) return
    closeSync(this.#files.log)
    closeSync(this.#files.index)
    this.#files = null
  }

  /** SQLite removes both files when the gate closes the only connection, and makes new ones. Only the log: somebody has deleted it. */
  #areRemade({ index }: Files): boolean {
    if (fstatSync(index).nlink > 0) return false
    this.close()
    this.#seen = { frames: 0, bytes: 0 }
    return true
  }
}

interface Files {
  log: number
  index: number
}

/** Null if one is not there, which `OpenFiles` notices, or if no file descriptor is left. */
function openFiles(path: string): Files | null {
  const opened: number[] = []
  try {
    for (const suffix of ['-wal', '-shm']) opened.push(openSync(`${path}${suffix}`, 'r'))
    const [log = 0, index = 0] = opened
    return { log, index }
  } catch {
    for (const file of opened) closeSync(file)
    return null
  }
}

/** How many frames are in the log after the last commit. */
function readCommitted(files: Files): { frames: number; frameBytes: number } {
  const index = readAt(files.index, 0, INDEX_BYTES)
  return { frames: index.readUInt32LE(16), frameBytes: FRAME_HEADER_BYTES + index.readUInt16LE(14) }
}

/** Whether the header of this frame is empty. */
function isHole(files: Files, frame: number, frameBytes: number): boolean {
  if (frame === 0) return false
  const at = LOG_HEADER_BYTES + (frame - 1) * frameBytes
  return readAt(files.log, at, FRAME_HEADER_BYTES).every((byte) => byte === 0)
}

function readAt(file: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  readSync(file, buffer, 0, bytes, position)
  return buffer
}

// https://sqlite.org/fileformat2.html#the_write_ahead_log
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
// https://sqlite.org/walformat.html#the_wal_index_file_format. Its numbers have the byte order of the machine; Bun runs on little-endian ones.
const INDEX_BYTES = 20
