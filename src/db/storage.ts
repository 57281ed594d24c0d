import type { OpenFiles } from './open-files.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Log, silentLog } from '../core/log.ts'

const PROBE_EVERY_MS = 1000
const LOG_EVERY_MS = 60_000

/** SQLite's code for a file that was deleted or replaced. SQLite itself does not look while it keeps a write-ahead log. */
const MOVED = 'SQLITE_READONLY_DBMOVED'

/** Whether a result code says that the file is damaged or is not a database. */
export const isDamage = (code: string): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/**
 * Knows whether the storage accepts commits. It refuses nothing: every write is tried. On a nearly full disk small commits
 * still succeed while messages fail, so a fault is over only after a probe of several pages has been written.
 */
export class Storage {
  #fault: string | null = null
  #probedAt = -Infinity
  #probing: Promise<void> | null = null
  #loggedAt = -Infinity
  /** Failures since the last line of the log. */
  #failures = 0
  /** Whether the log has said that the storage fails, and not yet that it works again. */
  #isAnnounced = false

  /** `probe` writes some pages and removes them again. `files`: null for a database in memory. */
  constructor(
    readonly probe: () => Promise<unknown>,
    readonly files: OpenFiles | null = null,
    readonly log: Log = silentLog,
    readonly clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {}

  /** Why commits fail, with what to do; null while they succeed. */
  get problem(): string | null {
    return this.#fault === null ? null : textOf(this.#fault)
  }

  /**
   * Call before each commit: what is written into a deleted file is gone when the process ends. Throws as SQLite does for
   * such a file.
   */
  refuseIfMoved(): void {
    const name = this.files?.moved() ?? null
    if (name === null) return
    this.failed(MOVED)
    throw Object.assign(new Error(`${name} was deleted or replaced`), { code: MOVED })
  }

  /** Whether the log has had a line about a fault within the last minute. The next one has the number of failures since. */
  get isReported(): boolean {
    return this.clock.monotonic() - this.#loggedAt < LOG_EVERY_MS
  }

  /** Call when a commit failed, with SQLite's result code. */
  failed(code: string): void {
    // A damaged file stays damaged, even if the disk fills up later.
    this.#fault = this.#fault !== null && isDamage(this.#fault) ? this.#fault : code
    this.#failures++
    if (this.isReported) return
    this.log.error({ code: this.#fault, failures: this.#failures }, textOf(this.#fault))
    this.#loggedAt = this.clock.monotonic()
    this.#failures = 0
    this.#isAnnounced = true
  }

  /** Call after each commit. */
  committed(): void {
    if (this.#fault !== null && this.clock.monotonic() - this.#probedAt >= PROBE_EVERY_MS) void this.probeIfFailing()
  }

  /** Probes the storage after a fault, because without traffic nothing else would end the fault. Returns whether it fails now. */
  async probeIfFailing(): Promise<boolean> {
    if (this.#fault === null && (this.files?.moved() ?? null) !== null) this.failed(MOVED)
    // A damaged file stays damaged, even if the probe happens to write to a sound page.
    if (this.#fault !== null && !isDamage(this.#fault))
      await (this.#probing ??= this.#probe().finally(() => (this.#probing = null)))
    return this.#fault !== null
  }

  async #probe(): Promise<void> {
    this.#probedAt = this.clock.monotonic()
    try {
      await this.probe()
      this.#fault = null
      if (this.#isAnnounced) this.log.warn({}, 'the storage works again')
      this.#isAnnounced = false
    } catch {
      // The fault is not over.
    }
  }
}

function textOf(code: string): string {
  if (isDamage(code)) return 'the database is damaged: stop, and see docs/damaged-database.md'
  if (code === MOVED) return MOVED_TEXT
  return 'the storage fails: requests that cannot be stored get 503; check the free space and the disk'
}

const MOVED_TEXT =
  'the database file was deleted or replaced while the gateway has it open: messages are refused with 503. Do not stop the gateway before you have saved the data, which only it can still read: sgw backup FILE; then stop, put FILE in the place of the database, remove its -wal and -shm, and start (docs/damaged-database.md)'

/** Writes 64 KiB and deletes them, in one commit. */
export const PROBE = [
  `INSERT INTO facts (name, value) VALUES ('storage_probe', hex(zeroblob(32768))) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  `DELETE FROM facts WHERE name = 'storage_probe'`,
]
