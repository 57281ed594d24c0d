import { expect, test } from 'bun:test'
import { statSync, truncateSync } from 'node:fs'
import { checkedGate } from '../../src/db/checked-gate.ts'
import { FileStamp } from '../../src/db/file-stamp.ts'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { LogEnd } from '../../src/db/log-end.ts'
import { Storage } from '../../src/db/storage.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'

const INSERT = 'INSERT INTO notes VALUES (hex(zeroblob(8192)))'

async function openNotes(path: string): Promise<Gate> {
  const gate = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL', 'wal_autocheckpoint = 0'] })
  await gate.execute('CREATE TABLE notes (text TEXT)')
  return gate
}

test('a commit that was made while somebody cut the log is not acknowledged', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  let share = 1
  const cutBefore: Gate = {
    ...gate,
    batch: (statements) => {
      truncateSync(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size * share))
      return gate.batch(statements)
    },
  }
  const storage = new Storage(() => Promise.resolve())
  const watched = { stamp: await FileStamp.begin(path, gate), log: new LogEnd(path) }
  const checked = checkedGate(cutBefore, storage, () => watched)
  for (let commit = 0; commit < 5; commit++) await checked.batch([INSERT])
  share = 0.7
  expect(await failureOf(checked.batch([INSERT]))).toMatchObject({ code: 'SQLITE_READONLY_LOGCUT' })
  expect(storage.isSpoilt).toBe(true)
  await gate.close()
})

test('a VACUUM that moves the table of the last numbers does not look like another database while only the log has it', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  await gate.execute('CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, number INTEGER)')
  for (let row = 0; row < 5; row++) await gate.execute("INSERT INTO numbered (text, number) VALUES ('note', 7)")
  // VACUUM gives the page of `numbered` to the last numbers.
  await gate.execute('DROP TABLE notes')
  await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  const stamp = await FileStamp.begin(path, gate)
  const isOverwritten = (): Promise<boolean> => stamp.isOverwritten(gate)
  expect(await isOverwritten()).toBe(false)
  await gate.execute('VACUUM')
  expect([await isOverwritten(), await isOverwritten()]).toEqual([false, false])
  await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(await isOverwritten()).toBe(false)
  await gate.close()
  stamp.close()
})
