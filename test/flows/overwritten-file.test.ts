import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { EXIT } from '../../src/core/start-error.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { expectError } from '../support/expect-error.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld, recordedLog } from '../support/world.ts'

const ready = async (world: World): Promise<number> => (await fetch(`${world.running.adminUrl}/ready`)).status

const send = (world: World): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body: 'Hello' } })

async function sendMany(world: World, count: number): Promise<void> {
  for (let time = 0; time < count; time++) expect((await send(world)).status).toBe(202)
}

const checkpoint = (world: World): Promise<unknown> =>
  world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')

const checkOfDatabase = async (world: World) =>
  (await diagnose(world.gateway)).find(({ check }) => check === 'database')

function countOf(path: string): number {
  using database = new Database(path, { readonly: true })
  expect(database.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  return (database.query('SELECT count(*) AS count FROM messages').get() as { count: number }).count
}

const cutLog = (path: string, share: number): void =>
  truncateSync(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size * share))

/** What happens to the content of the files, and what the gateway calls it. */
const ACCIDENTS: Record<string, { happen: (path: string) => void; name: string }> = {
  'an older copy is copied over it': {
    happen: (path) => copyFileSync(`${path}.older`, path),
    name: 'the database file was overwritten',
  },
  'a copy made by a backup is copied over it': {
    happen: (path) => copyFileSync(`${path}.backup`, path),
    name: 'the database file was overwritten',
  },
  'something else is copied over it': {
    happen: (path) => writeFileSync(path, 'no database at all '.repeat(20_000)),
    name: 'the database file was overwritten',
  },
  'it is emptied': { happen: (path) => truncateSync(path, 0), name: 'the database file was overwritten' },
  'its second half is cut off': {
    happen: (path) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096),
    name: 'the database file was overwritten',
  },
  'its log is emptied': { happen: (path) => cutLog(path, 0), name: 'the log of the database (its -wal file) was cut' },
  'its log is cut in the middle': {
    happen: (path) => cutLog(path, 0.5),
    name: 'the log of the database (its -wal file) was cut',
  },
  'its log is cut behind its header': {
    happen: (path) => truncateSync(`${path}-wal`, 32),
    name: 'the log of the database (its -wal file) was cut',
  },
}

/** Makes a gateway whose file and log both have messages that are nowhere else. */
async function prepare(world: World): Promise<void> {
  const path = join(world.folder, 'sgw.db')
  await sendMany(world, 10)
  await checkpoint(world)
  expect(await ready(world)).toBe(200)
  copyFileSync(path, `${path}.older`)
  await sendMany(world, 10)
  await checkpoint(world)
  expect(await ready(world)).toBe(200)
  await sendMany(world, 5)
  await world.gateway.database.gate.execute({ sql: 'VACUUM INTO ?', args: [`${path}.backup`] })
}

for (const [what, { happen, name }] of Object.entries(ACCIDENTS))
  test(`if ${what} under a running gateway, the next look finds it, and nothing more is accepted`, async () => {
    const { log, lines } = recordedLog()
    await using world = await createWorld({ log, connect: false, env: { ADMIN_PORT: '0' } })
    await prepare(world)
    happen(join(world.folder, 'sgw.db'))
    expect(await ready(world)).toBe(503)
    await expectError(await send(world), 503, 'Storage unavailable')
    expect(await ready(world)).toBe(503)
    const found = await checkOfDatabase(world)
    expect(found?.level).toBe('fail')
    expect(found?.detail).toContain(`${name} while the gateway has it open`)
    expect(found?.detail).toContain('sgw backup FILE')
    await using receiver = startReceiver()
    await new Alerts(world.gateway, receiver.url).run()
    expect(receiver.requests[0]?.body).toMatchObject({ alert: 'storage_failing', text: expect.stringContaining(name) })
    expect(lines.filter((line) => line.includes(name))).toHaveLength(1)
  })

test('if the log is cut, not one message is accepted into it, also without a look', async () => {
  await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
  await prepare(world)
  cutLog(join(world.folder, 'sgw.db'), 0.5)
  await expectError(await send(world), 503, 'Storage unavailable')
})

test('a commit that changes no row does not hide that the log was cut', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await sendMany(world, 10)
  cutLog(join(world.folder, 'sgw.db'), 0.5)
  const nothing = { sql: "DELETE FROM facts WHERE name = 'no such fact'", args: [] }
  expect(await failureOf(world.gateway.database.writer.write([nothing]))).toMatchObject({
    code: 'SQLITE_READONLY_LOGCUT',
  })
  await expectError(await send(world), 503, 'Storage unavailable')
})

/** What others may do to the files at any time. `sqlite3` is another process, as for an operator. */
const SOUND: Record<string, (world: World) => Promise<unknown>> = {
  'a checkpoint that empties the log': checkpoint,
  'another process that empties the log': async (world) => foreign(world, 'PRAGMA wal_checkpoint(TRUNCATE)'),
  'another process that writes and begins the log anew': async (world) =>
    foreign(world, "PRAGMA wal_checkpoint(RESTART); INSERT INTO facts (name, value) VALUES (random(), 'x')"),
  VACUUM: (world) => world.gateway.database.gate.execute('VACUUM'),
  'VACUUM by another process': async (world) => foreign(world, 'VACUUM; PRAGMA wal_checkpoint(TRUNCATE)'),
  'many deleted rows': async (world) => {
    await foreign(world, 'PRAGMA foreign_keys = OFF; DELETE FROM events')
    await world.gateway.database.gate.execute('VACUUM')
    await checkpoint(world)
  },
}

async function foreign(world: World, sql: string): Promise<void> {
  const script = `const d = new (require('bun:sqlite').Database)(process.argv[1]); d.run('PRAGMA busy_timeout = 5000')
    for (const one of process.argv[2].split(';')) d.run(one)`
  const child = Bun.spawn([process.execPath, '-e', script, join(world.folder, 'sgw.db'), sql])
  expect(await child.exited).toBe(0)
}

for (const [what, happen] of Object.entries(SOUND))
  test(`${what} is no accident`, async () => {
    await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
    let isOver = false
    const looks = async (): Promise<void> => {
      while (!isOver) expect(await ready(world)).toBe(200)
    }
    const looking = looks()
    for (let time = 0; time < 3; time++) {
      await sendMany(world, 10)
      await happen(world)
    }
    await sendMany(world, 10)
    isOver = true
    await looking
    expect(await checkOfDatabase(world)).toMatchObject({ level: 'ok' })
  })

test('while an older copy is in the place of a database that a stop has saved, no start takes it', async () => {
  const world = await createWorld({ connect: false })
  await using _world = world
  const path = join(world.folder, 'sgw.db')
  await sendMany(world, 5)
  await world.gateway.database.gate.execute({ sql: 'VACUUM INTO ?', args: [`${path}.older`] })
  await sendMany(world, 5)
  renameSync(`${path}.older`, path)
  await world.running.stop()
  const [saved = ''] = readdirSync(world.folder).filter((name) => name.startsWith('sgw.db.saved-'))
  for (let start = 0; start < 2; start++) {
    const refusal: unknown = await createWorld({ connect: false, folder: world.folder }).catch(
      (error: unknown) => error,
    )
    expect(refusal).toMatchObject({
      exitCode: EXIT.badConfig,
      message: expect.stringContaining(`saved as ${join(world.folder, saved)}`),
    })
  }
  const other = folderInMemory()
  renameSync(join(world.folder, saved), join(other, saved))
  await using older = await createWorld({ connect: false, folder: world.folder })
  await older.running.stop()
  expect(countOf(path)).toBe(5)
})

test('a stop does not give the copy that it saves the name of one that a restore has put aside', async () => {
  const world = await createWorld({ connect: false })
  await using _world = world
  const path = join(world.folder, 'sgw.db')
  await sendMany(world, 2)
  writeFileSync(`${path}.saved-${process.pid}.old`, 'an earlier one')
  rmSync(path)
  await world.running.stop()
  const saved = readdirSync(world.folder).filter((name) => name.startsWith('sgw.db.saved-'))
  expect(saved.toSorted()).toEqual([`sgw.db.saved-${process.pid}-2`, `sgw.db.saved-${process.pid}.old`])
})

test('files that were copied from a running gateway start, also where the new log has the number of the first one', async () => {
  await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
  await prepare(world)
  using copy = temporaryFolder()
  cpSync(world.folder, copy.path, { recursive: true })
  const numberOf = (log: string): string => String(statSync(log, { bigint: true }).ino).padStart(20, '0')
  const mark = readFileSync(copy.file('sgw.db.mark'), 'utf8')
  const [first, second] = [join(world.folder, 'sgw.db-wal'), copy.file('sgw.db-wal')].map(numberOf)
  expect(mark).toContain(first ?? '')
  writeFileSync(copy.file('sgw.db.mark'), mark.replace(first ?? '', second ?? ''))
  await using copied = await createWorld({ connect: false, folder: copy.path })
  await copied.running.stop()
  expect(countOf(copy.file('sgw.db'))).toBe(25)
})
