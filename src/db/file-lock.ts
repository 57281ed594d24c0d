import { dlopen } from 'bun:ffi'

const LOCK_SH = 1
const LOCK_EX = 2
const LOCK_NB = 4

/**
 * Locks an open file or folder for this process alone, until it is closed. False if another process has a lock on it.
 *
 * `flock` and the locks of SQLite do not see each other on Linux. Elsewhere they may, so there nothing is locked and the answer is true.
 */
export const lockAlone = (file: number): boolean => flock(file, LOCK_EX | LOCK_NB)

/** Takes a shared lock. Waits while another process has an exclusive one. */
export const lockShared = (file: number): boolean => flock(file, LOCK_SH)

function flock(file: number, operation: number): boolean {
  if (process.platform !== 'linux') return true
  call ??= dlopen('libc.so.6', { flock: { args: ['int', 'int'], returns: 'int' } }).symbols.flock
  return call(file, operation) === 0
}

let call: ((file: number, operation: number) => number) | null = null
