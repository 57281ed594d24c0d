import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../core/config.ts'
import { ENCRYPTION_KEY } from '../core/encryption-config.ts'
import { codeOf } from '../core/error-code.ts'
import { sha256Hex } from '../core/secrets.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { inUse } from './database-file.ts'
import { refusalOfFiles, refusalOfSecret } from './file-access.ts'
import { realPathOf } from './real-path.ts'
import { type ProcessLock, takeLock } from './lock.ts'

/** Names the database file without symbolic links. Call it before anything else uses the path: locks, sockets, Litestream. */
export function withRealPath(config: Config): Config {
  const { path } = config.database
  if (path === null) return config
  const real = realPathOf(path)
  return { ...config, database: { ...config.database, path: real, url: `file:${real}` } }
}

/** The folder of the database file, which also holds its lock, keys and sockets. */
export const dataFolder = (databasePath: string): string => dirname(resolve(databasePath))

/**
 * From now on only this user can read the files that the process writes, because they hold people's messages. It affects the whole process, so
 * only sgw's own programs call it.
 */
export function protectFiles(): void {
  process.umask(0o077)
}

/**
 * Creates the data folder and takes its lock, which one process at a time can hold. Errors: exit codes 73 and 75.
 */
export async function openDataFolder(databasePath: string, waitMs: number, onWait?: () => void): Promise<ProcessLock> {
  const folder = dataFolder(databasePath)
  const refusal = refusalOfFiles(databasePath)
  if (refusal !== null) throw new StartError(EXIT.cannotWrite, refusal)
  let lock: ProcessLock | null
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    refuseOtherThanFile(databasePath)
    lock = await takeLock(databasePath, waitMs, onWait)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      EXIT.cannotWrite,
      `Cannot write in ${folder}: check that the folder exists, is writable and has space, or set DATABASE_URL=file:PATH`,
    )
  }
  if (lock === null) throw inUse(databasePath)
  return lock
}

/** The start makes the database readable only for its user, which would make a device such as /dev/null useless. */
function refuseOtherThanFile(databasePath: string): void {
  const found = statSync(databasePath, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  throw new StartError(
    EXIT.cannotWrite,
    found.isDirectory()
      ? `${resolve(databasePath)} is a folder: set DATABASE_URL=file:PATH to a file in it`
      : `${resolve(databasePath)} is not a regular file: set DATABASE_URL=file:PATH to another`,
  )
}

/**
 * The configured encryption keys. Without `ENCRYPTION_KEYS`, a key that is created once and stored beside the database. Null if that file is
 * missing beside a database: a new key could not read the database, but would look like the right one. Errors: `StartError` if the file holds
 * no key.
 */
export function encryptionKeys(config: Config): Uint8Array[] | null {
  if (config.encryptionKeys !== null) return config.encryptionKeys
  const text = readSecret(config, ENCRYPTION_KEY) ?? makeKey(config)
  if (text === null) return null
  const key = keyOf(text)
  if (key === null) {
    throw new StartError(
      EXIT.badConfig,
      `${encryptionKeyPath(config)} contains no key: restore the file from a copy, or remove it and the database to start with an empty one`,
    )
  }
  return [key]
}

/** The key in the file beside the database, where ENCRYPTION_KEYS is set; null if there is none. */
export const keptKey = (config: Config): Uint8Array | null => keyOf(readSecret(config, ENCRYPTION_KEY) ?? '')

const keyOf = (text: string): Uint8Array | null =>
  /^[A-Za-z0-9+/]{43}=$/.test(text) ? Uint8Array.fromBase64(text) : null

function makeKey(config: Config): string | null {
  if (sizeOf(config.database.path ?? '') > 0 && !config.allowNewKeys) return null
  return writeSecret(config, ENCRYPTION_KEY, crypto.getRandomValues(new Uint8Array(32)).toBase64())
}

/** Why a database without its key is not opened. */
export const missingKey = (config: Config): StartError =>
  new StartError(
    EXIT.badConfig,
    `${encryptionKeyPath(config)} is missing, but there is a database beside it, whose secrets only that key can decrypt: put the copy of the file back, or set ENCRYPTION_KEYS if the database was made with it. If the key is lost for good, set ALLOW_NEW_KEYS=on (docs/runbooks.md, "The encryption keys are lost")`,
  )

/** The key's file if ENCRYPTION_KEYS is not set. */
export const encryptionKeyPath = (config: Config): string => secretPath(config, ENCRYPTION_KEY)

/** A small secret in a file beside the database, mode 600. The first call makes it. */
export const readOrCreateSecret = (config: Config, name: string, make: () => string): string =>
  readSecret(config, name) ?? writeSecret(config, name, make())

/** Writes or replaces such a secret. A crash leaves the old file or the new one, never a part. */
export function writeSecret(config: Config, name: string, value: string): string {
  const path = secretPath(config, name)
  rmSync(`${path}.part`, { force: true })
  writeFileSync(`${path}.part`, `${value}\n`, { mode: 0o600, flush: true })
  renameSync(`${path}.part`, path)
  return value
}

const secretPath = (config: Config, name: string): string => join(dataFolder(config.database.path ?? '.'), name)

/** The file with the API key of the app that a development server creates at its first start. */
export const DEVELOPMENT_KEY = 'development-api-key'

/** Reads such a secret; null if there is none. Errors: `StartError` if it cannot be read, because a new one would be a different secret. */
export function readSecret(config: Config, name: string): string | null {
  const path = secretPath(config, name)
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error'
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new StartError(EXIT.cannotWrite, refusalOfSecret(path) ?? `Cannot read ${path} (${code})`)
  }
}

/** Size of a file in bytes; 0 if there is none. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Operating systems limit the path of a Unix socket to a little over 100 bytes. */
const MAX_SOCKET_PATH = 100

/**
 * The path of a Unix socket of this database; by default the one for the operator's commands. It is beside the database,
 * or in the temporary folder if that path would be too long.
 */
export function socketPath(databasePath: string, suffix = '.sock'): string {
  const beside = `${resolve(databasePath)}${suffix}`
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH) return beside
  const path = join(tmpdir(), `sgw-${sha256Hex(beside).slice(0, 16)}.sock`)
  requireTrustedOwner(path, dirname(beside))
  return path
}

/** Anybody can write to the temporary folder. Without this check another user's socket could receive the operator's commands. */
function requireTrustedOwner(path: string, folder: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid
  const trusted = [undefined, 0, process.getuid?.(), statSync(folder, { throwIfNoEntry: false })?.uid]
  if (!trusted.includes(owner))
    throw new StartError(
      EXIT.unavailable,
      `${path} belongs to another user: remove it, or move the database to a shorter path`,
    )
}
