import { type Clock, systemClock } from '../core/clock.ts'
import { type Log, silentLog } from '../core/log.ts'

const PROBE_EVERY_MS = 1000
const LOG_EVERY_MS = 60_000

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

  /** `probe` writes some pages and removes them again. */
  constructor(
    readonly probe: () => Promise<unknown>,
    readonly log: Log = silentLog,
    readonly clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {}

  /** Call when a commit failed, with SQLite's result code. */
  failed(code: string): void {
    // A damaged file stays damaged, even if the disk fills up later.
    this.#fault = this.#fault !== null && isDamage(this.#fault) ? this.#fault : code
    this.#failures++
    const now = this.clock.monotonic()
    if (now - this.#loggedAt < LOG_EVERY_MS) return
    this.log.error({ code: this.#fault, failures: this.#failures }, textOf(this.#fault))
    this.#loggedAt = now
    this.#failures = 0
    this.#isAnnounced = true
  }

  /** Call after each commit. */
  committed(): void {
    if (this.#fault !== null && this.clock.monotonic() - this.#probedAt >= PROBE_EVERY_MS) void this.probeIfFailing()
  }

  /** Probes the storage after a fault, because without traffic nothing else would end the fault. Returns whether it fails now. */
  async probeIfFailing(): Promise<boolean> {
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

const textOf = (code: string): string =>
  isDamage(code)
    ? 'the database is damaged: stop, and see docs/damaged-database.md'
    : 'the storage fails: requests that cannot be stored get 503; check the free space and the disk'

/** Writes 64 KiB and deletes them, in one commit. */
export const PROBE = [
  `INSERT INTO facts (name, value) VALUES ('storage_probe', hex(zeroblob(32768))) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  `DELETE FROM facts WHERE name = 'storage_probe'`,
]
