import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Config } from './core/config.ts'
import { sha256Hex } from './core/secrets.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { type ProcessLock, takeLock } from './db/lock.ts'

/** Where a database file's companions live: its folder. */
export const dataFolder = (databasePath: string): string => dirname(resolve(databasePath))

/** Makes the folder and takes the lock that one process at a time holds. Errors: exit codes 73 and 75. */
export async function openDataFolder(databasePath: string, waitMs: number): Promise<ProcessLock> {
  const folder = dataFolder(databasePath)
  let lock: ProcessLock | null
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    lock = await takeLock(databasePath, waitMs)
  } catch {
    throw new StartError(EXIT.cannotWrite, `Cannot write in ${folder}: check that the folder exists, is writable and has space, or set DATABASE_URL=file:PATH`)
  }
  if (lock === null) throw new StartError(EXIT.locked, `Another process uses ${resolve(databasePath)}: stop it first, or set DATABASE_URL to another file`)
  return lock
}

/** The encryption keys: from the configuration, or in development one that is made once and kept beside the database. */
export function encryptionKeys(config: Config): Uint8Array[] {
  if (config.encryptionKeys !== null) return config.encryptionKeys
  return [Uint8Array.fromBase64(kept(config, 'encryption.key', () => crypto.getRandomValues(new Uint8Array(32)).toBase64()))]
}

/** A small secret beside the database, mode 600, the same after a restart. */
export function kept(config: Config, name: string, make: () => string): string {
  const path = join(dataFolder(config.database.path ?? '.'), name)
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    const value = make()
    writeFileSync(path, `${value}\n`, { mode: 0o600 })
    chmodSync(path, 0o600)
    return value
  }
}

/** A path for a Unix socket may have about 100 bytes. */
const MAX_SOCKET_PATH = 100

/** Where the operator's commands reach the running server: beside the database, or in the temporary folder if that is too long a path. */
export function socketPath(databasePath: string): string {
  const beside = `${resolve(databasePath)}.sock`
  return Buffer.byteLength(beside) <= MAX_SOCKET_PATH ? beside : join(tmpdir(), `sgw-${sha256Hex(beside).slice(0, 16)}.sock`)
}
