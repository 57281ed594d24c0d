import { readFileSync, statSync } from 'node:fs'

const DIGITS = 20

/**
 * Which files the database and its log are, in texts of one length. The restore mark has them. A new file may get the number of one that
 * was removed, but not the time at which it was made.
 */
export const fileNumbers = (path: string): string => [path, `${path}-wal`].map(identityOf).join(' ')

function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true })
  return [found?.ino ?? 0n, found?.birthtimeNs ?? 0n].map((number) => String(number).padStart(DIGITS, '0')).join('.')
}

/**
 * Why the log must not be used with the database at this path: it belongs to a replaced file, which the gateway had no time to save (`kill
 * -9`). SQLite would write it into the file that is there now. Null if there is no sign of that.
 */
export function refusalOfForeignLog(path: string): string | null {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return null
  const [database, log] = notedNumbers(`${path}.mark`)
  const [nowDatabase, nowLog] = fileNumbers(path).split(' ')
  return log === undefined || log !== nowLog || database === nowDatabase
    ? null
    : `${path} was replaced while a gateway had it open, and ${path}-wal belongs to the file that was there before: put that file back. To use the database that is there, which lacks what was accepted since, remove ${path}-wal and ${path}-shm (docs/runbooks.md)`
}

function notedNumbers(mark: string): string[] {
  try {
    const [line = ''] = readFileSync(mark, 'utf8').split('\n')
    return line.split(' ').slice(4)
  } catch {
    return []
  }
}
