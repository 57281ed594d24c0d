import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IS_LITESTREAM_5, LITESTREAM, OLD_LITESTREAM } from '../support/litestream.ts'
import { PROJECT, type Finished, finished } from '../support/program.ts'

const MESSAGES = 25
const folder = mkdtempSync(join(tmpdir(), 'sgw-restore-'))

/** A backup of a database with some messages, made once by Litestream itself. */
beforeAll(async () => {
  const place = new Place('original')
  mkdirSync(place.volume, { recursive: true })
  const database = createMessages(place.database)
  const command = [LITESTREAM, 'replicate', '-config', join(PROJECT, 'litestream.yml'), '-exec', 'sleep 1.5']
  await finished(command, { ...place.env, LITESTREAM_DATABASE: place.database })
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

/** A volume of a test's own, and the backup's place. */
class Place {
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

test('brings a missing database back', async () => {
  const place = new Place('missing')
  const { code, stdout } = await place.restore()
  expect(JSON.parse(stdout)).toEqual({ restored: true, detail: `${MESSAGES} messages` })
  expect(code).toBe(0)
  expect(place.rows()).toBe(MESSAGES)
})

test('takes an empty file for a missing database, and its left-over log away', async () => {
  const place = new Place('empty')
  mkdirSync(place.volume)
  for (const suffix of ['', '-wal', '-shm'])
    writeFileSync(`${place.database}${suffix}`, suffix === '' ? '' : 'left over')
  expect(JSON.parse((await place.restore()).stdout)).toMatchObject({ restored: true })
  expect(place.rows()).toBe(MESSAGES)
})

test('leaves a database that is there as it is', async () => {
  const place = new Place('there')
  mkdirSync(place.volume)
  writeFileSync(place.database, 'not even a database')
  const { code, stdout } = await place.restore()
  expect(JSON.parse(stdout)).toEqual({ restored: false, detail: 'the database exists' })
  expect(code).toBe(0)
  expect(Bun.file(place.database).size).toBe('not even a database'.length)
})

test('starts empty without a backup, but not with REQUIRE_RESTORE', async () => {
  const nowhere = { LITESTREAM_REPLICA_URL: `file://${join(folder, 'nowhere')}` }
  const first = await new Place('first', nowhere).restore()
  expect(JSON.parse(first.stdout)).toMatchObject({ restored: false })
  expect(first.code).toBe(0)
  const required = await new Place('required', { ...nowhere, REQUIRE_RESTORE: '1' }).restore()
  expect(required.stderr).toContain('check LITESTREAM_REPLICA_URL')
  expect(required.code).toBe(78)
})

test('starts nothing from a folder with an incomplete backup', async () => {
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(join(elsewhere, 'ltx'), { recursive: true })
  const place = new Place('elsewhere-database', { LITESTREAM_REPLICA_URL: `file://${elsewhere}` })
  expect((await place.restore()).code).toBe(0)
  writeFileSync(join(elsewhere, 'ltx/notes.txt'), '')
  const { code, stdout, stderr } = await place.restore()
  expect({ code, stdout }).toEqual({ code: 69, stdout: '' })
  expect(stderr).toContain(`The backup at file://${elsewhere} is damaged: files that a restore needs are missing`)
})

test('does not take the older backup of an earlier Litestream when the newer one is damaged', async () => {
  const replica = join(folder, 'both')
  const place = new Place('both-database', { LITESTREAM_REPLICA_URL: `file://${replica}` })
  mkdirSync(place.volume)
  using database = createMessages(place.database)
  const env = { ...place.env, LITESTREAM_DATABASE: place.database }
  for (const program of [OLD_LITESTREAM, LITESTREAM, LITESTREAM]) {
    const command = [program, 'replicate', '-config', join(PROJECT, 'litestream.yml'), '-exec', 'sleep 1.5']
    await finished(command, env)
    addMessage(database, 'outbound', 0)
  }
  database.close()
  rmSync(place.volume, { recursive: true })
  if (!IS_LITESTREAM_5) rmSync(join(replica, 'generations'), { recursive: true })
  // Snapshots, and what begins with the first transaction, of whichever level Litestream has come to by the clock.
  const files = readdirSync(replica, { recursive: true, encoding: 'utf8' })
  for (const name of files.filter((path) => /ltx\/9\/.|\/0000000000000001-/.test(path))) rmSync(join(replica, name))
  const { code, stdout } = await place.restore()
  expect({ code, stdout }).toEqual(
    IS_LITESTREAM_5
      ? { code: 69, stdout: '' }
      : { code: 0, stdout: expect.stringContaining('the database starts empty') },
  )
})

test('refuses while a server holds the database', async () => {
  const place = new Place('held')
  mkdirSync(place.volume)
  const holder = new Database(`${place.database}.lock`, { create: true })
  holder.run('BEGIN EXCLUSIVE')
  const started = place.restore()
  await Bun.sleep(600)
  expect(existsSync(place.database)).toBe(false)
  holder.close()
  expect(JSON.parse((await started).stdout)).toMatchObject({ restored: true })
})

test('says how to go on when Litestream or the place of the backup is missing', async () => {
  const noProgram = await new Place('no-program', { LITESTREAM_COMMAND: '/nowhere/litestream' }).restore()
  expect(noProgram).toMatchObject({ code: 69, stderr: expect.stringContaining('install Litestream') })
  const noReplica = await new Place('no-replica', { LITESTREAM_REPLICA_URL: '' }).restore()
  expect(noReplica).toMatchObject({ code: 78, stderr: expect.stringContaining('LITESTREAM_REPLICA_URL is not set') })
})

test('a drill looks through the backup and leaves nothing behind', async () => {
  const place = new Place('drill')
  mkdirSync(place.volume)
  const { code, stdout } = await place.restore('--check')
  expect(JSON.parse(stdout)).toEqual({ ok: true, rows: MESSAGES, integrity: 'ok' })
  expect(code).toBe(0)
  expect(readdirSync(place.volume)).toEqual([])
})

test('a drill that cannot be held fails with 1 and says why', async () => {
  const noReplica = new Place('drill-no-replica', { LITESTREAM_REPLICA_URL: '' })
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

test('a drill fails if the backup lacks what was accepted more than a minute ago', async () => {
  const place = new Place('drill-old')
  mkdirSync(place.volume)
  const database = createMessages(place.database)
  addMessage(database, 'inbound', Date.now() - 600_000)
  addMessage(database, 'outbound', Date.now())
  expect(JSON.parse((await place.restore('--check')).stdout)).toEqual({ ok: true, rows: MESSAGES, integrity: 'ok' })
  addMessage(database, 'outbound', Date.now() - 600_000)
  const { code, stdout } = await place.restore('--check')
  const integrity = expect.stringMatching(
    /^the backup is old: it lacks everything that was accepted in the last 60\d s; /,
  )
  expect(JSON.parse(stdout)).toEqual({ ok: false, rows: MESSAGES, integrity })
  expect(code).toBe(1)
  database.close()
})

test('the numbers of deleted messages, which are used again, do not make an old backup look new', async () => {
  const place = new Place('drill-erased')
  mkdirSync(place.volume)
  const database = createMessages(place.database)
  database.run('DELETE FROM messages WHERE seq > 20')
  for (let number = 0; number < 5; number++) addMessage(database, 'outbound', Date.now() - 600_000)
  expect((await place.restore('--check')).code).toBe(1)
  database.close()
})

test('a drill removes what one that was killed has left', async () => {
  const place = new Place('drill-killed')
  mkdirSync(place.volume)
  // No process has this number: Linux counts no further than 4,194,304.
  for (const name of ['sgw.db.drill-4999999', 'sgw.db.drill-4999999.tmp', `sgw.db.drill-${process.pid}`])
    writeFileSync(join(place.volume, name), "everybody's messages")
  expect((await place.restore('--check')).code).toBe(0)
  expect(readdirSync(place.volume)).toEqual([`sgw.db.drill-${process.pid}`])
})

test('a drill fails when there is no backup, or a damaged one', async () => {
  const none = new Place('drill-none', { LITESTREAM_REPLICA_URL: `file://${join(folder, 'nowhere')}` })
  mkdirSync(none.volume)
  const noBackup = await none.restore('--check')
  expect(JSON.parse(noBackup.stdout)).toEqual({ ok: false, rows: 0, integrity: 'there is no backup' })
  expect(noBackup.code).toBe(1)
  cpSync(join(folder, 'replica'), join(folder, 'damaged'), { recursive: true })
  for (const file of readdirSync(join(folder, 'damaged'), { recursive: true, withFileTypes: true })) {
    if (file.isFile()) truncateSync(join(file.parentPath, file.name), 40)
  }
  const damaged = new Place('drill-damaged', { LITESTREAM_REPLICA_URL: `file://${join(folder, 'damaged')}` })
  mkdirSync(damaged.volume)
  expect((await damaged.restore('--check')).code).not.toBe(0)
  expect(readdirSync(damaged.volume)).toEqual([])
})
