import { expect, test } from 'bun:test'
import { openGate } from '../../src/db/gate.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'
import { PRAGMAS, committed, lockHolder, openNotes } from './notes.ts'

test.concurrent('a unit that waits for the lock is applied once, completely and in order', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  await using holder = await lockHolder(path, 1, 700)
  const first = gate.batch(['INSERT INTO notes VALUES (1)', 'INSERT INTO notes VALUES (2)'])
  const second = gate.execute('SELECT count(*) AS notes FROM notes')
  await first
  expect((await second).rows[0]?.['notes']).toBe(2)
  expect(await committed(path)).toEqual(new Set([1, 2]))
  await holder.ended()
  await gate.close()
})

test.concurrent('a new connection gets the pragmas again', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openGate({
    url: `file:${path}`,
    pragmas: [...PRAGMAS, 'wal_autocheckpoint = 17'],
  })
  await gate.execute('CREATE TABLE notes (id INTEGER PRIMARY KEY)')
  await using holder = await lockHolder(path, 1, 700)
  await gate.execute('INSERT INTO notes VALUES (1)')
  expect((await gate.execute('PRAGMA wal_autocheckpoint')).rows[0]?.['wal_autocheckpoint']).toBe(17)
  await holder.ended()
  await gate.close()
})

test('a violated constraint leaves the connection usable', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  await gate.execute('INSERT INTO notes VALUES (1)')
  for (let turn = 0; turn < 3; turn++)
    expect(await failureOf(gate.execute('INSERT INTO notes VALUES (1)'))).toMatchObject({
      code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    })
  await gate.batch(['INSERT INTO notes VALUES (2)', 'INSERT INTO notes VALUES (1)']).catch(() => null)
  await gate.execute('INSERT INTO notes VALUES (3)')
  expect(await committed(path)).toEqual(new Set([1, 3]))
  await gate.close()
})

test('a COMMIT that fails stores nothing', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  await gate.execute('PRAGMA foreign_keys = ON')
  await gate.execute('CREATE TABLE tags (note INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED)')
  const orphan = gate.batch(['INSERT INTO notes VALUES (1)', 'INSERT INTO tags VALUES (7)'])
  const next = gate.batch(['INSERT INTO notes VALUES (2)'])
  expect(await failureOf(orphan)).toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  await next
  expect(await committed(path)).toEqual(new Set([2]))
  await gate.close()
})

test('an argument that would crash the driver or become NULL is refused', async () => {
  using folder = temporaryFolder()
  const gate = await openNotes(folder.file('notes.db'))
  for (const value of [true, Number.NaN, Number.POSITIVE_INFINITY, undefined, {}, new Date()]) {
    const failure = await failureOf(gate.execute({ sql: 'SELECT ?1', args: [value as never] }))
    expect(String(failure)).toContain('cannot be an argument')
  }
  expect((await gate.execute({ sql: 'SELECT ?1 AS value', args: [7] })).rows).toEqual([{ value: 7 }])
  await gate.close()
})
