import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { readsOf } from '../../src/db/database.ts'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { type Program, failureOf, startProgram, temporaryFolder } from '../support/process.ts'

const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL']

async function openNotes(path: string, reconnectOnBusy = true): Promise<Gate> {
  const gate = await openGate({ url: `file:${path}`, pragmas: PRAGMAS, reconnectOnBusy })
  await gate.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)')
  return gate
}

/** What another process sees: only what is committed. Locks do not hold between two connections of one process. */
async function committed(path: string): Promise<Set<number>> {
  await using reader = startProgram('test/db/fixtures/read-ids.ts', [path])
  const { stdout } = await reader.ended()
  return new Set(JSON.parse(stdout) as number[])
}

/** Another process takes the write lock `times` times for `holdMs`, which is longer than a call waits for it. */
async function lockHolder(path: string, times: number, holdMs: number): Promise<Program> {
  const holder = startProgram('test/db/fixtures/lock-holder.ts', [path, String(times), String(holdMs), '150'])
  await holder.printed(/ready/)
  return holder
}

/** Writes for as long as another process takes the lock again and again; answers what was acknowledged and what is lost. */
async function writeBesideALockHolder(
  path: string,
  write: (id: number) => Promise<unknown>,
): Promise<{ acknowledged: number; lost: number; refused: number }> {
  await using holder = await lockHolder(path, 3, 400)
  const acknowledged: number[] = []
  const refused: number[] = []
  for (let id = 1; holder.child.exitCode === null; id++) {
    await write(id).then(
      () => acknowledged.push(id),
      () => refused.push(id),
    )
    // Leaves the lock to the holder now and then.
    await Bun.sleep(1)
  }
  const there = await committed(path)
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((id) => !there.has(id)).length,
    refused: refused.length,
  }
}

test('another process takes the write lock again and again: every acknowledged write is there, and none is refused', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path)
  const { acknowledged, lost, refused } = await writeBesideALockHolder(path, (id) =>
    id % 2 === 0 ? gate.execute(`INSERT INTO notes VALUES (${id})`) : gate.batch([`INSERT INTO notes VALUES (${id})`]),
  )
  await gate.close()
  expect(acknowledged).toBeGreaterThan(20)
  expect({ lost, refused }).toEqual({ lost: 0, refused: 0 })
})

test('without the reconnection the driver acknowledges writes that no other process ever sees', async () => {
  using folder = temporaryFolder()
  const path = folder.file('notes.db')
  const gate = await openNotes(path, false)
  const { acknowledged, lost } = await writeBesideALockHolder(path, (id) =>
    gate.execute(`INSERT INTO notes VALUES (${id})`),
  )
  expect(acknowledged).toBeGreaterThan(0)
  expect(lost).toBeGreaterThan(0)
  await gate.close()
})

test('a unit that met the lock is applied once, completely, and in order', async () => {
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

test('a new connection gets the pragmas again', async () => {
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

test('a violated rule leaves the connection sound', async () => {
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

test('a COMMIT that fails leaves nothing behind', async () => {
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

test('reads accept only queries, so that no interactive transaction can begin', async () => {
  using folder = temporaryFolder()
  const gate = await openNotes(folder.file('notes.db'))
  const reads = readsOf(gate)
  for (const writing of [reads.transaction(() => Promise.resolve()), reads.run(sql`DELETE FROM notes`)])
    expect(await failureOf(writing)).toMatchObject({ cause: { message: expect.stringContaining('Only queries') } })
  await gate.close()
})

test('an argument that the driver would die of, or store as NULL, is refused', async () => {
  using folder = temporaryFolder()
  const gate = await openNotes(folder.file('notes.db'))
  for (const value of [true, Number.NaN, Number.POSITIVE_INFINITY, undefined, {}, new Date()]) {
    const failure = await failureOf(gate.execute({ sql: 'SELECT ?1', args: [value as never] }))
    expect(String(failure)).toContain('cannot be an argument')
  }
  expect((await gate.execute({ sql: 'SELECT ?1 AS value', args: [7] })).rows).toEqual([{ value: 7 }])
  await gate.close()
})
