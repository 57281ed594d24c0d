import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import type { Log } from '../core/log.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import { refusalOfFiles } from './file-access.ts'
import { lockAlone } from './file-lock.ts'
import { type ProcessLock, untilLocked } from './lock.ts'

/** What SQLite adds to the name of a database. */
export const SUFFIXES = ['', '-wal', '-shm'] as const
/**
 * Creates the database file if it is missing, makes it readable only for this user, and locks it. The lock belongs to the file itself, so it
 * holds under any name, and even if somebody removes `sgw.db.lock`. Errors: `StartError`, exit codes 73 and 75.
 */
export async function lockDatabase(path: string, waitMs: number, onWait: () => void): Promise<ProcessLock> {
  const file = openToWrite(path)
  try {
    const fault = faultOfFile(path)
    if (fault !== null) throw new StartError(EXIT.cannotWrite, fault)
    if (!(await untilLocked(() => lockAlone(file), waitMs, onWait))) throw inUse(path)
    // Somebody has replaced the file meanwhile.
    if (fstatSync(file).ino !== statSync(path, { throwIfNoEntry: false })?.ino) throw inUse(path)
    for (const suffix of SUFFIXES) hideFromOthers(`${path}${suffix}`)
  } catch (error) {
    closeSync(file)
    throw error
  }
  notePid(path)
  return {
    release() {
      rmSync(pidFile(path), { force: true })
      closeSync(file)
    },
  }
}

/** The process that has the lock writes its id here. */
const pidFile = (path: string): string => `${path}.pid`

function notePid(path: string): void {
  try {
    writeFileSync(pidFile(path), `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // The disk is full. Only the message to a second start needs the id.
  }
}

/** Logs that a start waits, and for which process. */
export const noteWaitFor = (path: string, log: Log) => (): void => {
  const pid = pidOfHolder(path)
  log.warn({ pid: pid === null ? undefined : Number(pid) }, 'another process uses the database: waiting for it to end')
}

export function inUse(path: string): StartError {
  const pid = pidOfHolder(path)
  const which = pid === null ? resolve(path) : `${resolve(path)} (pid ${pid})`
  return new StartError(
    EXIT.locked,
    `Another process uses ${which}: stop it first, or set DATABASE_URL to another file`,
  )
}

/** Null if unknown: the process is of release 1.0.0, or uses another name of the file. */
function pidOfHolder(path: string): string | null {
  try {
    return /^\d+(?=\n$)/.exec(readFileSync(pidFile(path), 'utf8'))?.[0] ?? null
  } catch {
    return null
  }
}

function openToWrite(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  } catch {
    throw new StartError(EXIT.cannotWrite, faultOfFile(path) ?? `Cannot read and write ${path}: check its disk`)
  }
}

/** Why the next start would refuse the files of this database; null if it would not. */
export function faultOfFile(path: string): string | null {
  const refusal = refusalOfFiles(path)
  if (refusal !== null) return refusal
  const links = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1
  return links > 1
    ? `${path} has ${links} names (hard links), and SQLite keeps a log for each, so messages could be lost: remove the other names (find / -xdev -samefile ${path})`
    : null
}

/** The files that other users can read, although they hold people's messages. */
export const filesOpenToOthers = (path: string): string[] =>
  SUFFIXES.map((suffix) => `${path}${suffix}`).filter(isOpenToOthers)

const isOpenToOthers = (path: string): boolean => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0

/** A copied file may be readable for everybody. Only its owner can change that; the doctor warns otherwise. */
function hideFromOthers(path: string): void {
  if (!isOpenToOthers(path)) return
  try {
    chmodSync(path, 0o600)
  } catch {
    // Another user owns it.
  }
}
