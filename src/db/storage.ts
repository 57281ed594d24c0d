import { atMost } from '../core/at-most.ts'
import type { OpenFiles } from './open-files.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { codeOf, rootOf } from '../core/error-code.ts'
import { type Log, silentLog } from '../core/log.ts'

const PROBE_EVERY_MS = 1000
/** How long a caller that wants the state waits for a probe: a replica that does not answer takes longer. */
const PROBE_WAIT_MS = 2000
const LOG_EVERY_MS = 60_000

/** SQLite's code for a file that was deleted or replaced. SQLite itself does not look while it keeps a write-ahead log. */
const MOVED = 'SQLITE_READONLY_DBMOVED'

/** The gateway's own codes: SQLite has none, because it does not notice these faults. */
export const OVERWRITTEN = 'SQLITE_READONLY_OVERWRITTEN'
export const LOG_CUT = 'SQLITE_READONLY_LOGCUT'
/** The replica has not confirmed a commit, but may have it. */
export const NOT_STORED = 'SQLITE_IOERR_NOT_STORED'
const isSpoilt = (code: string | null): boolean => code === OVERWRITTEN || code === LOG_CUT

/** The words of the replica, if an error says that it has not confirmed a commit; null for any other error. */
export function whyNotStored(error: unknown): string | null {
  if (!(error instanceof Error) || codeOf(error) !== NOT_STORED) return null
  const root = rootOf(error)
  return 'reason' in root ? String(root.reason) : root.message
}

/** Whether a result code says that the file is damaged or is not a database. */
export const isDamage = (code: string): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/** Neither part ends with a period. */
interface StorageFault {
  what: string
  fix: string
}

/**
 * Tracks whether the storage accepts commits. It refuses nothing: every write is tried. On a nearly full disk small commits still succeed
 * while messages fail, so a fault is over only after a probe of several pages has been written.
 */
export class Storage {
  #fault: string | null = null
  /** The words of the replica or its program. */
  #reason = ''
  #probedAt = -Infinity
  #probing: Promise<void> | null = null
  #inspecting: Promise<void> | null = null
  #loggedAt = -Infinity
  /** Failures since the last line of the log. */
  #failures = 0
  /** Whether the log has reported the failure, but not yet its end. */
  #isAnnounced = false

  /**
   * `probe` writes some pages and removes them again. `files`: null for a database in memory. `inspect` returns the code of what
   * happened to the content of the files, or null.
   */
  constructor(
    readonly probe: () => Promise<unknown>,
    readonly files: OpenFiles | null = null,
    readonly log: Log = silentLog,
    readonly clock: Pick<Clock, 'monotonic'> = systemClock,
    readonly inspect: () => Promise<string | null> = () => Promise.resolve(null),
  ) {}

  /** Why commits fail, with what to do; null while they succeed. */
  get problem(): string | null {
    return this.#fault === null ? null : textOf(this.#fault, this.#reason)
  }

  /** The same in two parts. */
  get fault(): StorageFault | null {
    return this.#fault === null ? null : faultOf(this.#fault, this.#reason)
  }

  /** Whether the database file has foreign content. This is final. */
  get isOverwritten(): boolean {
    return this.#fault === OVERWRITTEN
  }

  /** The same for that file or its log. */
  get isSpoilt(): boolean {
    return isSpoilt(this.#fault)
  }

  /** Whether only this process can still read the database, if anybody can. */
  get isLost(): boolean {
    return this.isSpoilt || (this.files?.moved() ?? null) !== null
  }

  /**
   * Call before each commit, and after one that may be lost: what is written into a deleted or overwritten file is gone when the
   * process ends. Throws as SQLite does for such a file.
   */
  refuseIfLost(): void {
    if (this.isLost) this.refuse(this.isSpoilt && this.#fault !== null ? this.#fault : MOVED)
  }

  /**
   * Call before a commit that must be stored at a replica. While the replica fails, throws as that fault did, and checks whether it is over.
   */
  refuseIfNotStored(): void {
    if (this.#fault !== NOT_STORED) return
    this.#probeSoon()
    this.refuse(NOT_STORED, this.#reason)
  }

  /** Records a fault that SQLite does not notice, and throws it. `reason`: why, if known. */
  refuse(code: string, reason = ''): never {
    this.failed(code, reason)
    throw Object.assign(new Error(textOf(code, reason)), { code, reason })
  }

  /** Whether the log has had a line about a fault within the last minute. The next one has the number of failures since. */
  get isReported(): boolean {
    return this.clock.monotonic() - this.#loggedAt < LOG_EVERY_MS
  }

  /** Call when a commit failed, with SQLite's result code. */
  failed(code: string, reason = ''): void {
    // A damaged file stays damaged, even if the disk fills up later. An overwritten one also looks damaged.
    const before = this.#fault
    this.#fault = before !== null && isFinal(before) && !isSpoilt(code) ? before : code
    if (this.#fault === code) this.#reason = reason
    this.#failures++
    const isNews = isSpoilt(code) && before !== code
    if (this.isReported && !isNews) return
    this.log.error({ code: this.#fault, failures: this.#failures }, textOf(this.#fault, this.#reason))
    this.#loggedAt = this.clock.monotonic()
    this.#failures = 0
    this.#isAnnounced = true
  }

  /** Call after each commit. */
  committed(): void {
    if (this.#fault !== null) this.#probeSoon()
  }

  /** Probes the storage unless it has been probed within the last second. */
  #probeSoon(): void {
    if (this.clock.monotonic() - this.#probedAt >= PROBE_EVERY_MS) void this.probeIfFailing()
  }

  /**
   * Checks the files, and probes the storage after a fault, because without traffic nothing else would detect it or its end. Call it every few
   * seconds. Returns whether the storage fails now.
   */
  async probeIfFailing(): Promise<boolean> {
    await this.#inspect()
    // A damaged file stays damaged, even if the probe happens to write to a sound page.
    if (this.#fault !== null && !isFinal(this.#fault))
      await atMost(PROBE_WAIT_MS, (this.#probing ??= this.#probe().finally(() => (this.#probing = null))))
    return this.#fault !== null
  }

  #inspect(): Promise<void> {
    return (this.#inspecting ??= this.#inspectOnce().finally(() => (this.#inspecting = null)))
  }

  async #inspectOnce(): Promise<void> {
    if (this.isSpoilt) return
    if (this.isLost) return this.#fault === null ? this.failed(MOVED) : undefined
    const code = await this.inspect().catch(() => null)
    if (code !== null) this.failed(code)
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

const isFinal = (code: string): boolean => isDamage(code) || isSpoilt(code)

function textOf(code: string, reason: string): string {
  const { what, fix } = faultOf(code, reason)
  return `${what}: ${fix}`
}

function faultOf(code: string, reason: string): StorageFault {
  if (code === NOT_STORED) return { what: `the replica does not store what is committed (${reason})`, fix: NO_ANSWERS }
  if (isDamage(code)) return { what: 'the database is damaged', fix: 'stop, and see docs/runbooks.md' }
  if (code === MOVED) return saveFirst('the database file was deleted or replaced', '')
  if (code === OVERWRITTEN) return saveFirst('the database file was overwritten', NOT_SAVED)
  if (code === LOG_CUT) return saveFirst('the log of the database (its -wal file) was cut', NOT_SAVED)
  return { what: 'the storage fails', fix: 'requests that cannot be stored get 503; check the free space and the disk' }
}

const NO_ANSWERS =
  'requests that must be stored get 503, and nothing is sent, until it works again; check the storage, its credentials and the network (docs/beyond-one-machine.md)'

const saveFirst = (what: string, otherwise: string): StorageFault => ({
  what: `${what} while the gateway has it open`,
  fix: `messages are refused with 503. Do not stop the gateway before you have saved the data, which only it can still read: sgw backup FILE; then stop, put FILE in the place of the database, remove its -wal and -shm, and start${otherwise} (docs/runbooks.md)`,
})

const NOT_SAVED =
  '; if sgw backup fails, what was accepted since the last checkpoint is lost: stop, restore the backup, and compare with the message log of RingCentral'

/** Writes 64 KiB and deletes them, in one commit. */
export const PROBE = [
  `INSERT INTO facts (name, value) VALUES ('storage_probe', hex(zeroblob(32768))) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  `DELETE FROM facts WHERE name = 'storage_probe'`,
]
