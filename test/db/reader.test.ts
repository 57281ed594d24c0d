import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { isStorageFault } from '../../src/db/gate.ts'
import { makeTable, overwriteTable } from '../support/overwrite-table.ts'
import { failureOf } from '../support/process.ts'

let folder: string
let path: string
let database: Database

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sgw-reader-'))
  path = join(folder, 'sgw.db')
  database = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const read = (sql: string, ...args: (string | number | null)[]) => database.reader.longRead('tenant', sql, args)
const note = (value: string): Promise<unknown> =>
  database.writer.write([{ sql: 'INSERT INTO facts (name, value) VALUES (?1, ?1)', args: [value] }])

test('rows come as the gate returns them', async () => {
  await note('ä"\u2028')
  const sql = 'SELECT value AS a, ?1 AS b, 1.5 AS c, NULL AS d, length(value) AS "e f" FROM facts WHERE value = ?2'
  const args = ['x', 'ä"\u2028']
  expect(await read(sql, ...args)).toEqual((await database.gate.execute({ sql, args })).rows)
  expect(await read('SELECT 1 WHERE 0')).toEqual([])
})

test('a commit is in the next read, and no snapshot is held afterwards', async () => {
  for (const name of ['one', 'two', 'three']) {
    await note(name)
    expect(await read('SELECT value FROM facts WHERE name = ?1', name)).toEqual([{ value: name }])
  }
  await database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(`${path}-wal`).size).toBe(0)
})

test('the thread cannot write', async () => {
  expect(String(await failureOf(read(`INSERT INTO facts (name, value) VALUES ('a', 'b')`)))).toContain('readonly')
})

test('a read that fails says why, and the next one is answered', async () => {
  const failure = await failureOf(read('SELECT no_such_column FROM facts'))
  expect(String(failure)).toContain('no_such_column')
  expect(isStorageFault(failure)).toBe(false)
  expect(await read('SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('the event loop goes on while a read runs', async () => {
  let rounds = 0
  const counting = setInterval(() => rounds++, 1)
  await read('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) SELECT count(*) FROM n')
  clearInterval(counting)
  expect(rounds).toBeGreaterThan(5)
})

test('closing rejects waiting and new reads', async () => {
  const asked = Array.from({ length: 5 }, () => failureOf(read('SELECT 1')))
  await database.close()
  for (const failure of await Promise.all(asked)) expect(String(failure)).toContain('closed')
  expect(String(await failureOf(read('SELECT 1')))).toContain('closed')
})

test('the next database takes the thread of one that was closed, also twice, and reads its own rows', async () => {
  await note('first')
  await database.close()
  await database.close()
  using starting = spyOn(globalThis, 'Worker')
  for (const name of ['second', 'third', 'fourth']) {
    const other = join(folder, name)
    const next = await openDatabase({ url: `file:${other}`, authToken: null, path: other, litestream: false })
    await next.writer.write([{ sql: 'INSERT INTO facts (name, value) VALUES (?1, ?1)', args: [name] }])
    const sql = `SELECT value FROM facts WHERE value IN ('first', 'second', 'third', 'fourth')`
    expect(await next.reader.longRead('tenant', sql, [])).toEqual([{ value: name }])
    await next.close()
  }
  expect(starting).not.toHaveBeenCalled()
})

test('tenants take turns, however many reads one of them has', async () => {
  const order: string[] = []
  const reads = ['a1', 'a2', 'a3', 'b1', 'c1'].map(async (name) => {
    await database.reader.longRead(name.slice(0, 1), 'SELECT 1', [])
    order.push(name)
  })
  await Promise.all(reads)
  // The first read begins at once, before the others wait.
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('the check of the file reads the disk, also where sound pages are in memory', async () => {
  await makeTable(database.gate, 'unread')
  const rows = (): Promise<unknown> => read('SELECT length(text) AS length FROM unread')
  expect(await rows()).toEqual([{ length: 16_384 }])
  expect([await database.reader.checkFile('unread'), await database.reader.checkFile()]).toEqual(['ok', 'ok'])
  await rows()
  await overwriteTable(database.gate, path, 'unread')
  expect(await rows()).toEqual([{ length: 16_384 }])
  for (const table of ['unread', undefined])
    expect(await database.reader.checkFile(table).catch((error: unknown) => String(error))).not.toBe('ok')
  expect(await database.reader.checkFile('facts')).toBe('ok')
})
