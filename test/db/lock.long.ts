import { expect, test } from 'bun:test'
import { takeLock } from '../../src/db/lock.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'

const HOLDER = 'test/db/fixtures/hold-process-lock.ts'

test('one process at a time holds the lock, also after a garbage collection', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  await using holder = startProgram(HOLDER, [path])
  await holder.printed(/held/)
  await Bun.sleep(100)
  const started = performance.now()
  expect(await takeLock(path, 250)).toBeNull()
  expect(performance.now() - started).toBeGreaterThanOrEqual(250)
  await using second = startProgram(HOLDER, [path])
  await second.printed(/refused/)
})

test('kill -9 frees the lock for a waiting process', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  await using holder = startProgram(HOLDER, [path])
  await holder.printed(/held/)
  const waiting = takeLock(path, 10_000)
  holder.kill('SIGKILL')
  const lock = await waiting
  expect(lock).not.toBeNull()
  lock?.release()
})

test('a released lock can be taken again; another database has a lock of its own', async () => {
  using folder = temporaryFolder()
  const first = await takeLock(folder.file('a.db'), 0)
  const other = await takeLock(folder.file('b.db'), 0)
  expect(other).not.toBeNull()
  expect(await takeLock(folder.file('a.db'), 0)).toBeNull()
  first?.release()
  const again = await takeLock(folder.file('a.db'), 0)
  expect(again).not.toBeNull()
  again?.release()
  other?.release()
})
