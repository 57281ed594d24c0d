import type { Log } from '../core/log.ts'

const PROBE_EVERY_MS = 1000

/** Whether a result code says that the file is no sound database. */
export const isDamage = (code: string): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code)

/**
 * Whether the storage takes commits. Nothing is refused because of it: each write is tried. On a disk that is nearly full
 * small commits still succeed while messages fail, so a fault is over only when a probe of some pages has been written.
 */
export class Storage {
  #fault: string | null = null
  #probedAt = -Infinity
  #probing: Promise<void> | null = null

  /** `probe` writes some pages and removes them again. */
  constructor(
    readonly probe: () => Promise<unknown>,
    readonly log?: Log,
  ) {}

  /** A commit failed, with this result code of SQLite. */
  failed(code: string): void {
    if (this.#fault === null && isDamage(code))
      this.log?.error({ code }, 'the database is damaged: stop, and see docs/damaged-database.md')
    else if (this.#fault === null)
      this.log?.error(
        { code },
        'the storage fails: what cannot be stored is refused with 503; look at the free space and the disk',
      )
    this.#fault = code
  }

  committed(): void {
    if (this.#fault !== null && performance.now() - this.#probedAt >= PROBE_EVERY_MS) void this.fails()
  }

  /** Looks again if the last word was a fault: without traffic nothing else would tell that it is over. */
  async fails(): Promise<boolean> {
    // A damaged file does not get better, though a probe may find a sound page.
    if (this.#fault !== null && !isDamage(this.#fault))
      await (this.#probing ??= this.#look().finally(() => (this.#probing = null)))
    return this.#fault !== null
  }

  async #look(): Promise<void> {
    this.#probedAt = performance.now()
    try {
      await this.probe()
      this.#fault = null
      this.log?.warn({}, 'the storage works again')
    } catch {
      // The fault goes on.
    }
  }
}

/** 64 KiB, in one commit. */
export const PROBE = [
  `INSERT INTO facts (name, value) VALUES ('storage_probe', hex(zeroblob(32768))) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  `DELETE FROM facts WHERE name = 'storage_probe'`,
]
