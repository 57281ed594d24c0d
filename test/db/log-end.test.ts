import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { statSync, truncateSync } from 'node:fs'
import { LogEnd } from '../../src/db/log-end.ts'
import { temporaryFolder } from '../support/process.ts'

function open(path: string): Database {
  const database = new Database(path)
  for (const sql of ['PRAGMA journal_mode = WAL', 'CREATE TABLE IF NOT EXISTS notes (text TEXT)']) database.run(sql)
  return database
}

const note = (database: Database): unknown => database.run('INSERT INTO notes VALUES (hex(zeroblob(8192)))')

test('a log that SQLite has made anew, because no connection was open, is no accident, and is watched', () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const first = open(path)
  const log = new LogEnd(path)
  for (let time = 0; time < 5; time++) note(first)
  expect(log.isCut()).toBe(false)
  first.close()
  const second = open(path)
  expect(log.isCut()).toBe(false)
  note(second)
  expect(log.isCut()).toBe(false)
  truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1)
  expect(log.isCut()).toBe(true)
  second.close()
  log.close()
})

test('a log that is emptied by a checkpoint, or begun anew, is no accident', () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const database = open(path)
  const log = new LogEnd(path)
  for (const mode of ['TRUNCATE', 'RESTART', 'PASSIVE', 'TRUNCATE']) {
    for (let time = 0; time < 3; time++) note(database)
    expect(log.isCut()).toBe(false)
    database.run(`PRAGMA wal_checkpoint(${mode})`)
    expect(log.isCut()).toBe(false)
  }
  note(database)
  expect(log.isCut()).toBe(false)
  database.close()
  log.close()
})
