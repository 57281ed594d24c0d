import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { FairQueue } from '../../../src/db/lists/fair-queue.ts'
import type { ListQuery } from '../../../src/db/lists/list.ts'
import { Reader } from '../../../src/db/lists/reader.ts'
import { failureOf } from '../../support/process.ts'
import { EVERYTHING, type Seeded, seedMessages, seededDatabase } from './seeded.ts'

const ROWS = 3000
let seeded: Seeded

beforeEach(async () => {
  seeded = await seededDatabase(ROWS)
})
afterEach(() => seeded[Symbol.asyncDispose]())

test('what is committed is in the next answer, and no snapshot is held afterwards', async () => {
  const { database, path } = seeded
  expect((await database.lists.page(EVERYTHING)).total).toBe(ROWS)
  await database.writer.write([{ sql: 'DELETE FROM messages WHERE seq = 7', args: [] }])
  expect((await database.lists.page(EVERYTHING)).total).toBe(ROWS - 1)
  await database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(statSync(`${path}-wal`).size).toBe(0)
})

test('a thread that fails is replaced, and who waits is answered by the next one', async () => {
  const { path } = seeded
  const reader = new Reader(path, () => {})
  try {
    const broken = { ...EVERYTHING, equal: { no_such_column: 'x' } }
    expect(String(await failureOf(reader.page(broken)))).toContain('no_such_column')
    expect((await reader.page(EVERYTHING)).total).toBe(ROWS)
  } finally {
    await reader.close()
  }
})

test('a thread that is late is replaced, and ends by itself when its call is over', async () => {
  const { database, path } = seeded
  for (const table of ['messages', 'deliveries']) await database.gate.execute(`DELETE FROM ${table}`)
  await seedMessages(database, 80_000)
  const bounds = { answerMs: 30_000 }
  const reader = new Reader(path, () => {}, bounds)
  const ofUser = (name: string): ListQuery => ({ ...EVERYTHING, equal: { user_id: name } })
  const wayIn = performance.now()
  expect((await reader.page(ofUser('nobody'))).total).toBe(0)
  // Long enough for the call to be under way, too short for it to end.
  bounds.answerMs = Math.min(20, (performance.now() - wayIn) / 3)
  expect(String(await failureOf(reader.page(ofUser('nobody else'))))).toContain('did not answer')
  bounds.answerMs = 30_000
  expect((await reader.page(EVERYTHING)).total).toBe(80_000)
  await reader.close()
}, 30_000)

test('after closing nothing is answered, and nothing waits for ever', async () => {
  const { path } = seeded
  const reader = new Reader(path, () => {})
  const asked = Array.from({ length: 5 }, (_, offset) => failureOf(reader.page({ ...EVERYTHING, offset })))
  await reader.close()
  // The first may have had its answer before.
  for (const failure of (await Promise.all(asked)).slice(1)) expect(String(failure)).toContain('closed')
  expect(String(await failureOf(reader.page(EVERYTHING)))).toContain('closed')
})

test('tenants take turns, however many questions one of them has', () => {
  const queue = new FairQueue<string>()
  for (const question of ['a1', 'a2', 'a3']) queue.add('a', question)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  const order = Array.from({ length: 6 }, () => queue.take())
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', undefined])
})
