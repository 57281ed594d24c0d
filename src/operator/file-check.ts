import { codeOf } from '../core/error-code.ts'
import { DAY_MS } from '../core/limits.ts'
import { sizeOf } from '../db/data-folder.ts'
import { isDamage } from '../db/storage.ts'
import type { Gateway } from '../messages/gateway.ts'
import { readBackup } from './backup/read-backup.ts'

const RUN_MS = 10 * 60_000
/** A larger file is read once a day instead of each hour. */
const HOURLY_BYTES = 1e9

/**
 * Finds damage that SQLite has not come across yet. It reads one table after another on the reader thread, so a list waits for one table at
 * most. A run ends after ten minutes; the next one continues there. `run` never fails: call it each hour.
 */
export class FileCheck {
  /** Tables that this round has not read yet. */
  #tables: string[] = []
  #roundAt = -Infinity
  #isRunning = false

  constructor(readonly gateway: Gateway) {}

  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      await this.#checkTables()
    } catch {
      // The database is closed, or no connection could be opened. Nothing was found, and the next run continues here.
    } finally {
      this.#isRunning = false
    }
  }

  async #checkTables(): Promise<void> {
    const { clock } = this.gateway
    const endsAt = clock.monotonic() + RUN_MS
    if (this.#tables.length === 0) await this.#beginRound()
    while (clock.monotonic() < endsAt && (await this.#mayRead())) {
      const table = this.#tables.shift()
      if (table === undefined || (await this.#isDamaged(table))) return
    }
  }

  async #beginRound(): Promise<void> {
    const { clock, config, database } = this.gateway
    const { path } = config.database
    if (path === null) return
    if (sizeOf(path) > HOURLY_BYTES && clock.monotonic() - this.#roundAt < DAY_MS) return
    this.#roundAt = clock.monotonic()
    const names = await database.gate.values(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    this.#tables = ['sqlite_schema', ...names.map(([name]) => String(name))]
  }

  /** A backup that is behind needs the disk more. A deleted or overwritten file is known to be lost. */
  async #mayRead(): Promise<boolean> {
    const { database, lifecycle } = this.gateway
    if (lifecycle.draining || (await database.storage?.probeIfFailing()) === true) return false
    return ['off', 'current'].includes((await readBackup(this.gateway)).state)
  }

  async #isDamaged(table: string): Promise<boolean> {
    const { database, log } = this.gateway
    const found = await database.reader.checkFile(table).catch((error: unknown) => {
      const code = codeOf(error) ?? ''
      if (isDamage(code) || code === 'SQLITE_IOERR_SHORT_READ') return code
      throw error
    })
    if (found === 'ok') return false
    log.error({ table, found }, 'the database file was checked and is damaged')
    database.storage?.failed('SQLITE_CORRUPT')
    return true
  }
}
