import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ENCRYPTION_KEY } from '../core/encryption-config.ts'
import { codeOf } from '../core/error-code.ts'

const { R_OK, W_OK, X_OK } = constants

/** The files that a start needs: the database, its log and what is beside it. Excludes copies that other processes left. */
const BESIDE = ['', '-wal', '-shm', '.lock', '.mark', '.backup-lock'] as const

/**
 * Why this process cannot work with the files of a database, in one line that names each file with its owner, and what to do. A command run by
 * another user leaves such files, mostly root's before the first start. Null if nothing prevents it.
 */
export function refusalOfFiles(databasePath: string): string | null {
  const path = resolve(databasePath)
  const folder = dirname(path)
  const files = [...BESIDE.map((suffix) => `${path}${suffix}`), join(folder, `.${basename(path)}-litestream`)]
  const needs = files.map((file): Need => [file, R_OK | W_OK])
  return refusalOfFolder(folder) ?? refusalOf([...needs, [join(folder, ENCRYPTION_KEY), R_OK]], folder)
}

/** Why this process cannot work in a folder, or cannot create it; null if it can, or if the path is not a folder. */
export function refusalOfFolder(folder: string): string | null {
  const nearest = nearestVisible(folder)
  if (!statSync(nearest).isDirectory() || accessCode([nearest, R_OK | W_OK | X_OK]) === '') return null
  const elsewhere = ', or set DATABASE_URL=file:PATH to a file in another'
  if (nearest === folder) return `${refusalOf([[folder, R_OK | W_OK | X_OK]], folder)}${elsewhere}`
  return `Cannot open or make ${folder}, because ${described([nearest])} keeps ${thisUser()} out, who runs this: make it as root (install -d -o ${thisUser()} -m 700 ${folder})${elsewhere}`
}

/** Why a secret beside the database cannot be read; null if it can, or if there is none. */
export const refusalOfSecret = (path: string): string | null => refusalOf([[path, R_OK]], dirname(path))

/** The owner of a file, for a process that may not use it. If it may not open the folder, the folder's owner. */
export function ownerOf(path: string): { found: string; owner: string } {
  const found = nearestVisible(path)
  return { found, owner: userName(statSync(found).uid) }
}

/** The user of this process, as the system calls it. */
export const thisUser = (): string => userName(process.geteuid?.() ?? -1)

/** A file and how it is used. */
type Need = readonly [path: string, mode: number]

function refusalOf(needs: readonly Need[], folder: string): string | null {
  const denied = needs.filter((need) => DENIALS.includes(accessCode(need)))
  if (denied.length === 0) return null
  const paths = denied.map(([path]) => path)
  const isReadOnly = denied.every(([, mode]) => mode === R_OK)
  const what = `Cannot ${isReadOnly ? 'read' : 'read and write'} ${described(paths)}`
  if (denied.some((need) => accessCode(need) === 'EROFS')) return `${what}: the disk is mounted read-only`
  const names = paths.join(' ')
  const give = `give ${paths.length === 1 ? 'it' : 'them'} to ${thisUser()}, who runs this (chown ${thisUser()} ${names}; chmod u+rwX ${names})`
  const { owner } = ownerOf(folder)
  // In somebody else's folder this command probably runs as the wrong user.
  return owner === thisUser() ? `${what}: ${give}` : `${what}: run this as ${owner}, or ${give}`
}

const DENIALS = ['EACCES', 'EPERM', 'EROFS']

/** `sgw.db (owner root, mode 600)` */
function described(paths: readonly string[]): string {
  const found = paths.map((path) => statSync(path))
  const owners = new Set(found.map(({ uid }) => userName(uid)))
  const modes = new Set(found.map(({ mode }) => (mode & 0o777).toString(8)))
  return `${paths.join(', ')} (owner ${[...owners].join(', ')}, mode ${[...modes].join(', ')})`
}

/** The system's reason why the file cannot be used like this; empty if it can. */
function accessCode([path, mode]: Need): string {
  try {
    accessSync(path, mode)
    return ''
  } catch (error) {
    return codeOf(error) ?? 'unknown'
  }
}

/** The path itself, or the deepest folder above it that this process can see. */
function nearestVisible(path: string): string {
  try {
    statSync(path)
    return path
  } catch {
    return nearestVisible(dirname(path))
  }
}

/** The name of a user; its number if the system has no name for it, as in containers. */
function userName(uid: number): string {
  const line = passwd().find((entry) => entry.split(':')[2] === String(uid))
  return line?.split(':')[0] ?? String(uid)
}

function passwd(): string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n')
  } catch {
    return []
  }
}
