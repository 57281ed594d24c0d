import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'

/** The lock of a process on a database. The system releases it when the process ends in any way, even by `kill -9`. */
export interface ProcessLock {
  release(): void
}

/** Keeps connections referenced: the garbage collector would close one, which releases its lock. */
const held = new Set<Database>()

/**
 * Takes the lock beside the database: an exclusive SQLite transaction on a file of its own. It exists before the database, and every release
 * takes it. `lockDatabase` takes the lock that nobody can remove. Returns null when another process still holds it after `waitMs`; calls
 * `onWait` once if it has to wait.
 */
export async function takeLock(
  databasePath: string,
  waitMs: number,
  onWait: () => void = () => {},
): Promise<ProcessLock | null> {
  const path = `${databasePath}.lock`
  // SQLite would leave the mode to the process.
  closeSync(openSync(path, 'a', 0o600))
  const database = new Database(path, { create: true })
  if (await untilLocked(() => tryLock(database), waitMs, onWait)) return keep(database)
  database.close()
  return null
}

/** Tries until it succeeds or time runs out. */
export async function untilLocked(tryOnce: () => boolean, waitMs: number, onWait: () => void): Promise<boolean> {
  const deadline = performance.now() + waitMs
  for (let tries = 0; ; tries++) {
    if (tryOnce()) return true
    if (performance.now() >= deadline) return false
    if (tries === 0) onWait()
    await Bun.sleep(100)
  }
}

function keep(database: Database): ProcessLock {
  held.add(database)
  return {
    release() {
      held.delete(database)
      database.close()
    },
  }
}

function tryLock(database: Database): boolean {
  try {
    database.run('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) return false
    throw error
  }
}
