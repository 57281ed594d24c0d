import { expect, test } from 'bun:test'
import { temporaryFolder } from '../support/process.ts'
import { committed, lockHolder, openNotes } from './notes.ts'

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

test('without the reconnection the driver acknowledges writes that nobody else ever sees', async () => {
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
