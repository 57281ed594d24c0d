import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Config } from './core/config.ts'
import { sha256Hex } from './core/secrets.ts'
import { EXIT, StartError } from './core/start-error.ts'
import { type ProcessLock, takeLock } from './db/lock.ts'

/** Where a database file's companions live: its folder. */
export const dataFolder = (databasePath: string): string => dirname(resolve(databasePath))

/**
 * Makes the folder and takes the lock that one process at a time holds. Whatever this process writes from now on is
 * for its user's eyes alone: the database holds people's messages. Errors: exit codes 73 and 75.
 */
export async function openDataFolder(databasePath: string, waitMs: number, onWait?: () => void): Promise<ProcessLock> {
  const folder = dataFolder(databasePath)
  process.umask(0o077)
  let lock: ProcessLock | null
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    demandNoFolder(databasePath)
    lock = await takeLock(databasePath, waitMs, onWait)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      EXIT.cannotWrite,
      `Cannot write in ${folder}: check that the folder exists, is writable and has space, or set DATABASE_URL=file:PATH`,
    )
  }
  if (lock === null)
    throw new StartError(
      EXIT.locked,
      `Another process uses ${resolve(databasePath)}: stop it first, or set DATABASE_URL to another file`,
    )
  return lock
}

function demandNoFolder(databasePath: string): void {
  if (statSync(databasePath, { throwIfNoEntry: false })?.isDirectory() !== true) return
  throw new StartError(
    EXIT.cannotWrite,
    `${resolve(databasePath)} is a folder: set DATABASE_URL=file:PATH to a file in it`,
  )
}

/** The encryption keys: from the configuration, or in development one that is made once and kept beside the database. */
export function encryptionKeys(config: Config): Uint8Array[] {
  if (config.encryptionKeys !== null) return config.encryptionKeys
  const text = kept(config, ENCRYPTION_KEY, () => crypto.getRandomValues(new Uint8Array(32)).toBase64())
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) {
    throw new StartError(
      EXIT.badConfig,
      `${keptPath(config, ENCRYPTION_KEY)} holds no key: bring the file back from a copy, or remove it and the database to start anew`,
    )
  }
  return [Uint8Array.fromBase64(text)]
}

const ENCRYPTION_KEY = 'encryption.key'

/** A small secret beside the database, mode 600, the same after a restart. */
export const kept = (config: Config, name: string, make: () => string): string =>
  readKept(config, name) ?? keep(config, name, make())

/** Keeps or replaces a small secret beside the database. A crash leaves the whole file or none. */
export function keep(config: Config, name: string, value: string): string {
  const path = keptPath(config, name)
  rmSync(`${path}.part`, { force: true })
  writeFileSync(`${path}.part`, `${value}\n`, { mode: 0o600, flush: true })
  renameSync(`${path}.part`, path)
  return value
}

const keptPath = (config: Config, name: string): string => join(dataFolder(config.database.path ?? '.'), name)

/** Name of the file with the API key of the app that a development server makes for itself. */
export const DEVELOPMENT_KEY = 'development-api-key'

/** A secret that was kept before; null when there is none. */
export function readKept(config: Config, name: string): string | null {
  try {
    return readFileSync(keptPath(config, name), 'utf8').trim()
  } catch {
    return null
  }
}

/** Bytes of a file; 0 when it is not there. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** A path for a Unix socket may have about 100 bytes. */
const MAX_SOCKET_PATH = 100

/**
 * Where the operator's commands reach the running server, or with another suffix another socket of this database: beside
 * the database, or in the temporary folder if that is too long a path.
 */
export function socketPath(databasePath: string, suffix = '.sock'): string {
  const beside = `${resolve(databasePath)}${suffix}`
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH) return beside
  const path = join(tmpdir(), `sgw-${sha256Hex(beside).slice(0, 16)}.sock`)
  demandOwn(path, dirname(beside))
  return path
}

/** Anybody may write to the temporary folder: a stranger's socket there would hear, and answer, the operator's commands. */
function demandOwn(path: string, folder: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid
  const friends = [undefined, 0, process.getuid?.(), statSync(folder, { throwIfNoEntry: false })?.uid]
  if (!friends.includes(owner))
    throw new StartError(
      EXIT.unavailable,
      `${path} belongs to another user: remove it, or move the database to a shorter path`,
    )
}
