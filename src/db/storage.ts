import type { Log } from '../core/log.ts'

const PROBE_EVERY_MS = 1000

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
    if (this.#fault === null)
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
    if (this.#fault !== null) await (this.#probing ??= this.#look().finally(() => (this.#probing = null)))
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
