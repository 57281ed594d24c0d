import { existsSync, renameSync, rmSync } from 'node:fs'
import { type Log, errorName } from '../core/log.ts'
import { SqliteConnection } from './connection.ts'
import type { Gate } from './gate.ts'
import { savedPath } from './lost-database.ts'
import type { Storage } from './storage.ts'

type Fault = Pick<Storage, 'isSpoilt' | 'isOverwritten'>

/**
 * Saves what only this process can still read, for an operator who stops it before running `sgw backup`. If a file has foreign content, this
 * succeeds only if everything that the file lacks is in memory.
 */
export async function saveLost(gate: Gate, path: string, fault: Fault, log: Log): Promise<void> {
  const file = savedPath(path)
  const what = fault.isSpoilt
    ? 'the files of the database were overwritten or cut'
    : 'the database file was deleted or replaced'
  try {
    await copyFile(gate, file, fault.isSpoilt ? refuseUnsound : undefined)
    if (fault.isSpoilt) for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    log.error({ file }, `${what}: its data was saved in this file`)
  } catch (error) {
    if (fault.isOverwritten) setLogAside(path, file)
    log.error({ error: errorName(error) }, `${what}, and could not be saved: restore the backup (docs/runbooks.md)`)
  }
}

/** The next start would write this log into somebody else's file. */
function setLogAside(path: string, file: string): void {
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${file}-wal`)
  rmSync(`${path}-shm`, { force: true })
}

/** Makes a consistent copy of the database. Repeated upgrades that fail leave one copy. */
export async function copyFile(gate: Gate, copy: string, check?: (copy: string) => void): Promise<void> {
  const part = `${copy}.part`
  rmSync(part, { force: true })
  try {
    await gate.execute({ sql: 'VACUUM INTO ?', args: [part] })
    check?.(part)
    renameSync(part, copy)
  } finally {
    rmSync(part, { force: true })
  }
}

function refuseUnsound(copy: string): void {
  const connection = new SqliteConnection(copy, 0)
  try {
    const [[verdict] = []] = connection.values('PRAGMA integrity_check(1)')
    if (verdict !== 'ok') throw Object.assign(new Error('The copy is damaged'), { code: 'SQLITE_CORRUPT' })
  } finally {
    connection.close()
  }
}
