import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'

/** Stores a row of a table whose numbers only go up, as each message does. */
const note = (database: Database, name: string): Promise<unknown> =>
  database.writer.write([
    {
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
        VALUES (?1, 'back_fill', ?1, 'tenant', hex(zeroblob(4096)), 1, 1)`,
      args: [name],
    },
  ])

const open = (path: string): Promise<Database> =>
  openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })

async function openWithCheckpoints(path: string): Promise<Database> {
  const database = await open(path)
  for (const name of ['first', 'second']) await note(database, name)
  await database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  await note(database, 'third')
  return database
}

/** A file's time has the ticks of the kernel's clock, some milliseconds: a second write within a tick would not change it. */
function copyOver(path: string): void {
  const timeOf = (name: string): bigint => statSync(name, { bigint: true }).mtimeNs
  const writtenAt = timeOf(path)
  do writeFileSync(`${path}.tick`, '')
  while (timeOf(`${path}.tick`) <= writtenAt)
  copyFileSync(`${path}.copy`, path)
}

const eachCommitMakesACheckpoint = 'PRAGMA wal_autocheckpoint = 1'

test('a commit whose checkpoint would hide that the file was overwritten is not acknowledged', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const database = await openWithCheckpoints(path)
  await database.gate.execute({ sql: 'VACUUM INTO ?1', args: [`${path}.copy`] })
  await note(database, 'fourth')
  await database.gate.execute(eachCommitMakesACheckpoint)
  copyOver(path)
  expect(await failureOf(note(database, 'fifth'))).toMatchObject({ code: 'SQLITE_READONLY_OVERWRITTEN' })
  await database.close()
})

test('a copy from before the checkpoint of the last commit is told from the file', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const database = await openWithCheckpoints(path)
  copyFileSync(path, `${path}.copy`)
  await database.gate.execute(eachCommitMakesACheckpoint)
  await note(database, 'fourth')
  // A reader may keep a checkpoint from writing, and then the copy is what the file still is.
  for (let more = 1; readFileSync(path).equals(readFileSync(`${path}.copy`)); more++)
    await note(database, `more ${more}`)
  copyOver(path)
  expect(await failureOf(note(database, 'fifth'))).toMatchObject({ code: 'SQLITE_READONLY_OVERWRITTEN' })
  await database.close()
})

test('a copy that another gateway has worked with since is told from the file', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const database = await openWithCheckpoints(path)
  copyFileSync(path, `${path}.copy`)
  const other = await open(`${path}.copy`)
  await note(other, 'elsewhere')
  await other.close()
  copyOver(path)
  expect(await failureOf(note(database, 'fourth'))).toMatchObject({ code: 'SQLITE_READONLY_OVERWRITTEN' })
  await database.close()
})

test('zeros over a database that is new are told from it', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const database = await open(path)
  writeFileSync(`${path}.copy`, Buffer.alloc(statSync(path).size))
  copyOver(path)
  expect(await failureOf(note(database, 'first'))).toMatchObject({ code: 'SQLITE_READONLY_OVERWRITTEN' })
  await database.close()
})

test('a start after kill -9 knows what its log writes into the file', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const killed = await openWithCheckpoints(path)
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, folder.file(`copy.db${suffix}`))
  await killed.close()
  const database = await open(folder.file('copy.db'))
  await database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  for (const name of ['fourth', 'fifth']) await note(database, name)
  await database.close()
})
