import { expect, test } from 'bun:test'
import { temporaryFolder } from '../support/process.ts'
import { committed, lockHolder, openNotes } from './notes.ts'

/** Writes while another process takes the lock repeatedly. Returns the acknowledged and the lost writes. */
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
    // Gives the other process a chance to take the lock.
    await Bun.sleep(1)
  }
  const there = await committed(path)
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((id) => !there.has(id)).length,
    refused: refused.length,
  }
}

test('while another process takes the write lock repeatedly, every write is acknowledged and stored', async () => {
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

test('without a reconnection, the driver acknowledges writes that no other process ever sees', async () => {
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
