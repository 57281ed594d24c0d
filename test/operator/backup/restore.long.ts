import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LITESTREAM } from '../../support/litestream.ts'
import { PROJECT, type Finished, finished } from '../../support/program.ts'

const MESSAGES = 25
const folder = mkdtempSync(join(tmpdir(), 'sgw-restore-'))

/** Litestream makes the backup of a database with some messages once for all tests. */
beforeAll(async () => {
  const target = new RestoreTarget('original')
  mkdirSync(target.volume, { recursive: true })
  const database = createMessages(target.database)
  const command = [LITESTREAM, 'replicate', '-config', join(PROJECT, 'litestream.yml'), '-exec', 'sleep 1.5']
  await finished(command, { ...target.env, LITESTREAM_DATABASE: target.database })
  database.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function createMessages(path: string): Database {
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE messages (seq INTEGER PRIMARY KEY, direction TEXT, created_at INTEGER)')
  for (let number = 0; number < MESSAGES; number++) addMessage(database, 'outbound', 0)
  return database
}

function addMessage(database: Database, direction: 'inbound' | 'outbound', createdAt: number): void {
  database.run('INSERT INTO messages (direction, created_at) VALUES (?, ?)', [direction, createdAt])
}

/** A volume of one test, and the settings of the backup. */
class RestoreTarget {
  readonly volume: string
  readonly database: string
  readonly env: Record<string, string>

  constructor(name: string, env: Record<string, string> = {}) {
    this.volume = join(folder, name)
    this.database = join(this.volume, 'sgw.db')
    this.env = {
      DATABASE_URL: `file:${this.database}`,
      LITESTREAM_COMMAND: LITESTREAM,
      LITESTREAM_CONFIG: join(PROJECT, 'litestream.yml'),
      LITESTREAM_REPLICA_URL: `file://${join(folder, 'replica')}`,
      ...env,
    }
  }

  restore(...words: string[]): Promise<Finished> {
    return finished([process.execPath, 'src/cli.ts', '--json', 'restore', ...words], this.env)
  }

  rows(): number {
    using database = new Database(this.database)
    return database.query<{ count: number }, []>('SELECT count(*) AS count FROM messages').get()?.count ?? -1
  }
}

test('a restore brings back a missing database', async () => {
  const target = new RestoreTarget('missing')
  const { code, stdout } = await target.restore()
  expect(JSON.parse(stdout)).toEqual({ restored: true, detail: `${MESSAGES} messages` })
  expect(code).toBe(0)
  expect(target.rows()).toBe(MESSAGES)
})

test('a restore treats an empty file as a missing database and removes its leftover WAL', async () => {
  const target = new RestoreTarget('empty')
  mkdirSync(target.volume)
  for (const suffix of ['', '-wal', '-shm'])
    writeFileSync(`${target.database}${suffix}`, suffix === '' ? '' : 'left over')
  expect(JSON.parse((await target.restore()).stdout)).toMatchObject({ restored: true })
  expect(target.rows()).toBe(MESSAGES)
})

test('a restore does not change an existing database', async () => {
  const target = new RestoreTarget('there')
  mkdirSync(target.volume)
  writeFileSync(target.database, 'not even a database')
  const { code, stdout } = await target.restore()
  expect(JSON.parse(stdout)).toEqual({ restored: false, detail: 'the database exists' })
  expect(code).toBe(0)
  expect(Bun.file(target.database).size).toBe('not even a database'.length)
})

test('without a backup the database starts empty, except with REQUIRE_RESTORE', async () => {
  const nowhere = { LITESTREAM_REPLICA_URL: `file://${join(folder, 'nowhere')}` }
  const first = await new RestoreTarget('first', nowhere).restore()
  expect(JSON.parse(first.stdout)).toMatchObject({ restored: false })
  expect(first.code).toBe(0)
  const required = await new RestoreTarget('required', { ...nowhere, REQUIRE_RESTORE: '1' }).restore()
  expect(required.stderr).toContain('check LITESTREAM_REPLICA_URL')
  expect(required.code).toBe(78)
})

test('an incomplete backup is refused', async () => {
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(join(elsewhere, 'ltx'), { recursive: true })
  const target = new RestoreTarget('elsewhere-database', { LITESTREAM_REPLICA_URL: `file://${elsewhere}` })
  expect((await target.restore()).code).toBe(0)
  writeFileSync(join(elsewhere, 'ltx/notes.txt'), '')
  const { code, stdout, stderr } = await target.restore()
  expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
  expect(stderr).toContain(`The backup at file://${elsewhere} is damaged: files that a restore needs are missing`)
})

test('a restore does not use the older backup of an earlier Litestream if the newer one is damaged', async () => {
  const replica = join(folder, 'both')
  const target = new RestoreTarget('both-database', { LITESTREAM_REPLICA_URL: `file://${replica}` })
  mkdirSync(target.volume)
  cpSync(join(import.meta.dir, 'fixtures/litestream-0.3'), replica, { recursive: true })
  using database = createMessages(target.database)
  const env = { ...target.env, LITESTREAM_DATABASE: target.database }
  for (let runs = 0; runs < 2; runs++) {
    const command = [LITESTREAM, 'replicate', '-config', join(PROJECT, 'litestream.yml'), '-exec', 'sleep 1.5']
    await finished(command, env)
    addMessage(database, 'outbound', 0)
  }
  database.close()
  rmSync(target.volume, { recursive: true })
  // Removes snapshots and files that begin with the first transaction, at every compaction level that Litestream has
  // reached.
  const files = readdirSync(replica, { recursive: true, encoding: 'utf8' })
  for (const name of files.filter((path) => /ltx\/9\/.|\/0000000000000001-/.test(path))) rmSync(join(replica, name))
  const { code, stdout } = await target.restore()
  expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
})

test('a restore waits while a server holds the database', async () => {
  const target = new RestoreTarget('held')
  mkdirSync(target.volume)
  const holder = new Database(`${target.database}.lock`, { create: true })
  holder.run('BEGIN EXCLUSIVE')
  const started = target.restore()
  await Bun.sleep(600)
  expect(existsSync(target.database)).toBe(false)
  holder.close()
  expect(JSON.parse((await started).stdout)).toMatchObject({ restored: true })
})

test('a restore without Litestream or a backup location says what to do', async () => {
  const noProgram = await new RestoreTarget('no-program', { LITESTREAM_COMMAND: '/nowhere/litestream' }).restore()
  expect(noProgram).toMatchObject({ code: 69, stderr: expect.stringContaining('install Litestream') })
  const noReplica = await new RestoreTarget('no-replica', { LITESTREAM_REPLICA_URL: '' }).restore()
  expect(noReplica).toMatchObject({ code: 78, stderr: expect.stringContaining('LITESTREAM_REPLICA_URL is not set') })
})

test('a drill checks the backup and leaves no file', async () => {
  const target = new RestoreTarget('drill')
  mkdirSync(target.volume)
  const { code, stdout } = await target.restore('--check')
  expect(JSON.parse(stdout)).toEqual({ ok: true, rows: MESSAGES, integrity: 'ok' })
  expect(code).toBe(0)
  expect(readdirSync(target.volume)).toEqual([])
})

test('a drill that cannot run fails with 1 and says why', async () => {
  const noReplica = new RestoreTarget('drill-no-replica', { LITESTREAM_REPLICA_URL: '' })
  const noFolder = await noReplica.restore('--check')
  expect(noFolder).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `There is no folder ${noReplica.volume}: the drill needs space beside the database`,
    ),
  })
  mkdirSync(noReplica.volume)
  expect(await noReplica.restore('--check')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('LITESTREAM_REPLICA_URL is not set'),
  })
})

test('a drill fails if the backup lacks messages that were accepted more than a minute ago', async () => {
  const target = new RestoreTarget('drill-old')
  mkdirSync(target.volume)
  const database = createMessages(target.database)
  addMessage(database, 'inbound', Date.now() - 600_000)
  addMessage(database, 'outbound', Date.now())
  expect(JSON.parse((await target.restore('--check')).stdout)).toEqual({ ok: true, rows: MESSAGES, integrity: 'ok' })
  addMessage(database, 'outbound', Date.now() - 600_000)
  const { code, stdout } = await target.restore('--check')
  const integrity = expect.stringMatching(
    /^the backup is old: it lacks everything that was accepted in the last 60\d s; /,
  )
  expect(JSON.parse(stdout)).toEqual({ ok: false, rows: MESSAGES, integrity })
  expect(code).toBe(1)
  database.close()
})

test('reused row numbers of deleted messages do not make an old backup look new', async () => {
  const target = new RestoreTarget('drill-erased')
  mkdirSync(target.volume)
  const database = createMessages(target.database)
  database.run('DELETE FROM messages WHERE seq > 20')
  for (let number = 0; number < 5; number++) addMessage(database, 'outbound', Date.now() - 600_000)
  expect((await target.restore('--check')).code).toBe(1)
  database.close()
})

test('a drill removes the files of a killed drill', async () => {
  const target = new RestoreTarget('drill-killed')
  mkdirSync(target.volume)
  // No process has this id: Linux ids end at 4,194,304.
  for (const name of ['sgw.db.drill-4999999', 'sgw.db.drill-4999999.tmp', `sgw.db.drill-${process.pid}`])
    writeFileSync(join(target.volume, name), "everybody's messages")
  expect((await target.restore('--check')).code).toBe(0)
  expect(readdirSync(target.volume)).toEqual([`sgw.db.drill-${process.pid}`])
})

test('a drill fails if there is no backup or it is damaged', async () => {
  const none = new RestoreTarget('drill-none', { LITESTREAM_REPLICA_URL: `file://${join(folder, 'nowhere')}` })
  mkdirSync(none.volume)
  const noBackup = await none.restore('--check')
  expect(JSON.parse(noBackup.stdout)).toEqual({ ok: false, rows: 0, integrity: 'there is no backup' })
  expect(noBackup.code).toBe(1)
  cpSync(join(folder, 'replica'), join(folder, 'damaged'), { recursive: true })
  for (const file of readdirSync(join(folder, 'damaged'), { recursive: true, withFileTypes: true })) {
    if (file.isFile()) truncateSync(join(file.parentPath, file.name), 40)
  }
  const damaged = new RestoreTarget('drill-damaged', { LITESTREAM_REPLICA_URL: `file://${join(folder, 'damaged')}` })
  mkdirSync(damaged.volume)
  expect((await damaged.restore('--check')).code).not.toBe(0)
  expect(readdirSync(damaged.volume)).toEqual([])
})
