import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { openDatabase } from '../../src/db/database.ts'
import { markIfNothingLost, openRestoreMark } from '../../src/db/restore-mark.ts'
import type { Writer } from '../../src/db/writer.ts'
import { temporaryFolder } from '../support/process.ts'

/** A process ends just before or just after it stores its incarnation. */
const MOMENTS = ['before', 'after'] as const
const thatEnds =
  (moment: (typeof MOMENTS)[number]) =>
  (writer: Writer): Writer => ({
    ...writer,
    write: async (statements) => {
      if (moment === 'after') await writer.write(statements)
      throw new Error('killed')
    },
  })

function markOf(folder: { file(name: string): string }) {
  const open = async (change: (writer: Writer) => Writer = (writer) => writer): Promise<boolean> => {
    await using stack = new AsyncDisposableStack()
    const path = folder.file('sgw.db')
    const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false })
    stack.defer(() => database.close())
    const fresh = { incarnation: `boot_${crypto.randomUUID().slice(0, 8)}`, now: 1 }
    const { gate, writer } = database
    const parts = { gate, writer: change(writer) }
    const { restoreMark, restored } = await openRestoreMark(parts, folder.file('mark'), fresh)
    restoreMark.close()
    return restored
  }
  return {
    open,
    killed: (moment: (typeof MOMENTS)[number]) => open(thatEnds(moment)).catch((error: unknown) => String(error)),
  }
}

for (const moment of MOMENTS) {
  test(`a first start that ends ${moment} it marks its database leaves a database that does not count as restored`, async () => {
    using folder = temporaryFolder()
    const { open, killed } = markOf(folder)
    expect(await killed(moment)).toBe('Error: killed')
    expect([await open(), await open()]).toEqual([false, false])
  })

  test(`a restored database is recognised exactly once if a start ends ${moment} it marks the database`, async () => {
    using folder = temporaryFolder()
    const { open, killed } = markOf(folder)
    expect(await open()).toBe(false)
    const noted = readFileSync(folder.file('mark'), 'utf8')
    writeFileSync(folder.file('mark'), noted.replace(/0{16}/, '0000000000000001'))
    expect(await killed(moment)).toBe('Error: killed')
    // If the mark was stored, the waiting messages are quarantined already.
    expect([await open(), await open()]).toEqual([moment === 'before', false])
  })
}

/** What `sgw restore` does after the newest copy is in its place. */
function restoreNewest(folder: { file(name: string): string }, durability: string): boolean {
  using database = new Database(folder.file('sgw.db'))
  database.run(`INSERT OR REPLACE INTO facts (name, value) VALUES ('durability', ?)`, [durability])
  return markIfNothingLost(folder.file('mark'), (sql) => database.query<Record<string, unknown>, []>(sql).all())
}

test('a database whose every commit was stored before it was acknowledged does not count as restored', async () => {
  using folder = temporaryFolder()
  const { open } = markOf(folder)
  await open()
  rmSync(folder.file('mark'))
  expect(restoreNewest(folder, 'replica')).toBe(true)
  expect(await open()).toBe(false)
})

test('a database that may lack something counts as restored', async () => {
  using folder = temporaryFolder()
  const { open } = markOf(folder)
  await open()
  rmSync(folder.file('mark'))
  expect(restoreNewest(folder, 'disk')).toBe(false)
  expect(existsSync(folder.file('mark'))).toBe(false)
  expect(await open()).toBe(true)
})

test('a mark that survived the database is left, so that a copy that lacks an attempt counts as restored', async () => {
  using folder = temporaryFolder()
  const { open } = markOf(folder)
  await open()
  const noted = readFileSync(folder.file('mark'), 'utf8')
  writeFileSync(folder.file('mark'), noted.replace(/0{16}/, '0000000000000001'))
  expect(restoreNewest(folder, 'replica')).toBe(false)
  expect(await open()).toBe(true)
})

test('a mark is overwritten without being emptied first', async () => {
  using folder = temporaryFolder()
  const { open } = markOf(folder)
  await open()
  // The rest of a longer line shows that the file was not emptied.
  writeFileSync(folder.file('mark'), `${readFileSync(folder.file('mark'), 'utf8')}and the rest of a longer line`)
  expect(await open()).toBe(false)
  expect(readFileSync(folder.file('mark'), 'utf8')).toEndWith('\nand the rest of a longer line')
})

/** Opens a mark whose next `failing` writes fail. `noted` reads the number of the newest attempt from its file. */
async function openMark(folder: { file(name: string): string }, stack: AsyncDisposableStack) {
  const path = folder.file('sgw.db')
  const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false })
  stack.defer(() => database.close())
  const disk = { failing: 0 }
  const writeAt = (file: number, text: string, position: number): number => {
    if (disk.failing-- > 0) throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
    return writeSync(file, text, position)
  }
  const fresh = { incarnation: 'boot_1', now: 1 }
  const { restoreMark: mark } = await openRestoreMark(database, folder.file('mark'), fresh, writeAt)
  stack.defer(() => mark.close())
  return { mark, disk, noted: () => Number(readFileSync(folder.file('mark'), 'utf8').split(' ')[1]) }
}

test('one write notes all attempts of a turn before their calls', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const { mark, noted } = await openMark(folder, stack)
  const committed = [1, 2, 3, 4, 5]
  expect(await Promise.all(committed.map((seq) => mark.noteAttempt(seq).then(noted)))).toEqual(committed.map(() => 5))
  await mark.noteAttempt(4)
  expect(noted()).toBe(5)
})

test('a failed write is retried once, and again with the next attempt of any number', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const { mark, disk, noted } = await openMark(folder, stack)
  disk.failing = 1
  await Promise.all([1, 2].map((seq) => mark.noteAttempt(seq)))
  expect(noted()).toBe(2)
  disk.failing = 2
  const failed = await Promise.allSettled([3, 5].map((seq) => mark.noteAttempt(seq)))
  expect([failed.map(({ status }) => status), noted()]).toEqual([['rejected', 'rejected'], 2])
  await mark.noteAttempt(4)
  expect(noted()).toBe(5)
})
