import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { openDatabase } from '../../src/db/database.ts'
import type { Gate } from '../../src/db/gate.ts'
import { openRestoreMark } from '../../src/db/restore-mark.ts'
import { temporaryFolder } from '../support/process.ts'

/** A process that ends before what it wants to store is stored. */
const thatEnds = (gate: Gate): Gate => ({
  ...gate,
  batch: (statements) =>
    JSON.stringify(statements).includes('INSERT INTO facts')
      ? Promise.reject(new Error('killed'))
      : gate.batch(statements),
})

function markOf(folder: { file(name: string): string }) {
  const open = async (change: (gate: Gate) => Gate = (gate) => gate): Promise<boolean> => {
    await using stack = new AsyncDisposableStack()
    const path = folder.file('sgw.db')
    const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false })
    stack.defer(() => database.close())
    const fresh = { incarnation: `boot_${crypto.randomUUID().slice(0, 8)}`, now: 1 }
    const { mark, restored } = await openRestoreMark(change(database.gate), folder.file('mark'), fresh)
    mark.close()
    return restored
  }
  return { open, killed: () => open(thatEnds).catch((error: unknown) => String(error)) }
}

test('a first start that ends before its database is marked leaves a new database', async () => {
  using folder = temporaryFolder()
  const { open, killed } = markOf(folder)
  expect(await killed()).toBe('Error: killed')
  expect(await open()).toBe(false)
  expect(await open()).toBe(false)
})

test('a restored database is one at the next start, too, where the first one ended before it was marked', async () => {
  using folder = temporaryFolder()
  const { open, killed } = markOf(folder)
  expect(await open()).toBe(false)
  writeFileSync(folder.file('mark'), readFileSync(folder.file('mark'), 'utf8').replace(/0{16}/, '0000000000000001'))
  expect(await killed()).toBe('Error: killed')
  expect(await open()).toBe(true)
  expect(await open()).toBe(false)
})

test('a mark is written over, never emptied first: its last line stands as long as nothing else is written', async () => {
  using folder = temporaryFolder()
  const { open } = markOf(folder)
  await open()
  // What a longer line leaves behind shows that the file was not emptied.
  writeFileSync(folder.file('mark'), `${readFileSync(folder.file('mark'), 'utf8')}and what stood here before`)
  expect(await open()).toBe(false)
  expect(readFileSync(folder.file('mark'), 'utf8')).toEndWith('\nand what stood here before')
})
