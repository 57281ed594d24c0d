import { readFileSync, statSync } from 'node:fs'

const DIGITS = 20

/** The numbers of the database file and of its log in the file system, of one length. The restore mark has them. */
export function fileNumbers(path: string): string {
  const numbers = [path, `${path}-wal`].map(
    (file) => statSync(file, { throwIfNoEntry: false, bigint: true })?.ino ?? 0n,
  )
  return numbers.map((number) => String(number).padStart(DIGITS, '0')).join(' ')
}

/**
 * Why the log must not be used with the database at this path: it is that of a file that was replaced, and the gateway had no
 * time to save it (`kill -9`). SQLite would write it into the file that is there now. Null if nothing says so.
 */
export function refusalOfForeignLog(path: string): string | null {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return null
  const [database, log] = notedNumbers(`${path}.mark`)
  const [nowDatabase, nowLog] = fileNumbers(path).split(' ')
  return log === undefined || log !== nowLog || database === nowDatabase
    ? null
    : `${path} was replaced while a gateway had it open, and ${path}-wal belongs to the file that was there before: put that file back. To use the database that is there, which lacks what was accepted since, remove ${path}-wal and ${path}-shm (docs/damaged-database.md)`
}

function notedNumbers(mark: string): string[] {
  try {
    const [line = ''] = readFileSync(mark, 'utf8').split('\n')
    return line.split(' ').slice(4)
  } catch {
    return []
  }
}
