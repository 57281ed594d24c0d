import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { SqliteConnection } from '../../../src/db/connection.ts'
import { FairQueue } from '../../../src/db/fair-queue.ts'
import { ListReader } from '../../../src/db/lists/reader.ts'
import { failureOf } from '../../support/process.ts'
import { EVERYTHING, type Seeded, seededDatabase } from './seeded.ts'

const ROWS = 3000
let seeded: Seeded

beforeEach(async () => {
  seeded = await seededDatabase(ROWS)
})
afterEach(() => seeded[Symbol.asyncDispose]())

test('a committed change is in the next answer, and no snapshot is held afterwards', async () => {
  const { database, path } = seeded
  expect((await database.lists.page(EVERYTHING)).total).toBe(ROWS)
  await database.writer.write([{ sql: 'DELETE FROM messages WHERE seq = 7', args: [] }])
  expect((await database.lists.page(EVERYTHING)).total).toBe(ROWS - 1)
  await database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(`${path}-wal`).size).toBe(0)
})

test('a thread that fails is replaced, and the next one answers', async () => {
  const { path } = seeded
  const reader = new ListReader(path, () => {})
  try {
    const broken = { ...EVERYTHING, equal: { no_such_column: 'x' } }
    expect(String(await failureOf(reader.page(broken)))).toContain('no_such_column')
    expect((await reader.page(EVERYTHING)).total).toBe(ROWS)
  } finally {
    await reader.close()
  }
})

test('a thread that does not answer in time is replaced, and exits when its call ends', async () => {
  const { database, path } = seeded
  // On a copy that only the locking connection has open, a reader waits inside the driver's call.
  const copy = `${path}.copy`
  await database.gate.execute(`VACUUM INTO '${copy}'`)
  const bounds = { answerMs: 50 }
  const reader = new ListReader(copy, () => {}, bounds)
  const other = new SqliteConnection(copy, 0)
  // Without a WAL, a writer locks all readers out until it commits.
  for (const sql of ['PRAGMA journal_mode = DELETE', 'BEGIN EXCLUSIVE']) other.execute(sql)
  expect(String(await failureOf(reader.page(EVERYTHING)))).toContain('did not answer')
  other.execute('COMMIT')
  other.close()
  bounds.answerMs = 30_000
  expect((await reader.page(EVERYTHING)).total).toBe(ROWS)
  await reader.close()
})

test('closing rejects waiting and new queries', async () => {
  const { path } = seeded
  const reader = new ListReader(path, () => {})
  const asked = Array.from({ length: 5 }, (_, offset) => failureOf(reader.page({ ...EVERYTHING, offset })))
  await reader.close()
  // The first query may have been answered before.
  for (const failure of (await Promise.all(asked)).slice(1)) expect(String(failure)).toContain('closed')
  expect(String(await failureOf(reader.page(EVERYTHING)))).toContain('closed')
})

test('tenants take turns, however many queries one of them has', () => {
  const queue = new FairQueue<string>()
  for (const question of ['a1', 'a2', 'a3']) queue.add('a', question)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  const order = Array.from({ length: 6 }, () => queue.take())
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', undefined])
})
