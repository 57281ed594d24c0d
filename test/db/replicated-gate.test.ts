import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { ConfirmedReplica, HeldReplica } from '../support/held-replica.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'

async function openReplicated<R extends HeldReplica = HeldReplica>(
  stack: AsyncDisposableStack,
  replica = new HeldReplica() as R,
) {
  const folder = stack.use(temporaryFolder())
  const path = folder.file('sgw.db')
  const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false, replica })
  stack.defer(() => database.close())
  const note = (name: string): Promise<unknown> =>
    database.writer.write([{ sql: `INSERT INTO facts (name, value) VALUES (?1, '')`, args: [name] }])
  const notes = async (): Promise<unknown[]> =>
    (await database.gate.values(`SELECT name FROM facts WHERE name LIKE 'note%' ORDER BY name`)).map(([name]) => name)
  return { database, replica, note, notes }
}

test('commits that wait together are stored together, and none resolves before', async () => {
  await using stack = new AsyncDisposableStack()
  const { replica, note, notes } = await openReplicated(stack)
  replica.hold()
  let resolved = 0
  const written = ['note 1', 'note 2', 'note 3'].map((name) => note(name).then(() => resolved++))
  while ((await notes()).length < 3) await Bun.sleep(1)
  expect([resolved, replica.asked]).toEqual([0, 1])
  replica.release()
  await Promise.all(written)
  expect([resolved, replica.asked]).toEqual([3, 1])
})

test('if the answer of the replica is lost, all units of the commit fail as of a failing storage, and none is repeated', async () => {
  await using stack = new AsyncDisposableStack()
  const { database, replica, note, notes } = await openReplicated(stack)
  replica.failure = 'the bucket is gone'
  const failures = await Promise.all(['note 1', 'note 2'].map((name) => failureOf(note(name))))
  expect(failures).toMatchObject([{ code: 'SQLITE_IOERR_NOT_STORED' }, { code: 'SQLITE_IOERR_NOT_STORED' }])
  expect([await notes(), replica.asked]).toEqual([['note 1', 'note 2'], 1])
  expect(database.storage?.problem).toContain('the replica does not store what is committed (the bucket is gone)')
})

test('while the replica fails nothing more is committed, and a probe ends the fault', async () => {
  await using stack = new AsyncDisposableStack()
  const { database, replica, note, notes } = await openReplicated(stack)
  replica.failure = 'the bucket is gone'
  await failureOf(note('note 1'))
  expect(await failureOf(note('note 2'))).toMatchObject({ code: 'SQLITE_IOERR_NOT_STORED' })
  expect(await notes()).toEqual(['note 1'])
  expect(await database.storage?.probeIfFailing()).toBe(true)
  replica.failure = null
  expect(await database.storage?.probeIfFailing()).toBe(false)
  await note('note 3')
  expect([await notes(), database.storage?.problem]).toEqual([['note 1', 'note 3'], null])
})

test('a unit that violates a constraint fails alone, and the others are stored', async () => {
  await using stack = new AsyncDisposableStack()
  const { note, notes } = await openReplicated(stack)
  const results = await Promise.allSettled(['note 1', 'note 1', 'note 2'].map((name) => note(name)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await notes()).toEqual(['note 1', 'note 2'])
})

test('a commit that is stored is acknowledged only when it is confirmed, and meanwhile the next one is stored', async () => {
  await using stack = new AsyncDisposableStack()
  const { database, replica, note, notes } = await openReplicated(stack, new ConfirmedReplica())
  replica.confirmation.hold()
  let resolved = 0
  const first = note('note 1').then(() => resolved++)
  while (replica.confirmation.asked < 1) await Bun.sleep(1)
  const second = note('note 2').then(() => resolved++)
  while (replica.confirmation.asked < 2) await Bun.sleep(1)
  expect([await notes(), replica.asked, resolved]).toEqual([['note 1', 'note 2'], 2, 0])
  let isDrained = false
  const drained = database.writer.drained().then(() => (isDrained = true))
  await Bun.sleep(1)
  expect(isDrained).toBe(false)
  replica.confirmation.release()
  await Promise.all([first, second, drained])
  expect(resolved).toBe(2)
})

test('a commit that is not confirmed fails as one that was not stored, and a probe ends the fault', async () => {
  await using stack = new AsyncDisposableStack()
  const { database, replica, note } = await openReplicated(stack, new ConfirmedReplica())
  replica.confirmation.failure = 'the lease cannot be read'
  expect(await failureOf(note('note 1'))).toMatchObject({ code: 'SQLITE_IOERR_NOT_STORED' })
  expect(await failureOf(note('note 2'))).toMatchObject({ code: 'SQLITE_IOERR_NOT_STORED' })
  expect(database.storage?.problem).toContain('the lease cannot be read')
  expect(await database.storage?.probeIfFailing()).toBe(true)
  replica.confirmation.failure = null
  expect(await database.storage?.probeIfFailing()).toBe(false)
  await note('note 3')
})
