import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { openDatabase } from '../../src/db/database.ts'
import { type Gate, openGate } from '../../src/db/gate.ts'
import { SchemaError, migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { sha256Hex } from '../../src/core/secrets.ts'
import { VERSION } from '../../src/core/version.ts'
import { failureOf, startProgram, temporaryFolder } from '../support/process.ts'

const FIRST = {
  name: '0000_first',
  sql: 'CREATE TABLE parents (id INTEGER PRIMARY KEY);--> statement-breakpoint\nCREATE TABLE children (parent INTEGER REFERENCES parents (id));',
}
const SECOND = { name: '0001_second', sql: 'ALTER TABLE parents ADD name TEXT;' }

const openFile = (path: string): Promise<Gate> =>
  openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL', 'foreign_keys = ON'] })

const tablesOf = async (gate: Gate): Promise<string[]> =>
  (await gate.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")).rows.map((row) =>
    String(row['name']),
  )

async function refusal(run: Promise<unknown>): Promise<string> {
  const error = await failureOf(run)
  expect(error).toBeInstanceOf(SchemaError)
  return error instanceof Error ? error.message : ''
}

test('a fresh file gets every migration; a migrated file gets none', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  const first = await openDatabase(options)
  expect(first.migrated).toEqual(MIGRATIONS.map(({ name }) => name))
  await first.close()
  const second = await openDatabase(options)
  expect(second.migrated).toEqual([])
  await second.close()
  expect(readdirSync(folder.path).filter((name) => name.includes('before'))).toEqual([])
})

test('the embedded migrations equal the journal', async () => {
  const journal = (await Bun.file(`${import.meta.dir}/../../drizzle/meta/_journal.json`).json()) as {
    entries: { tag: string }[]
  }
  expect(MIGRATIONS.map(({ name }) => name)).toEqual(journal.entries.map(({ tag }) => tag))
  for (const { name, sql } of MIGRATIONS)
    expect(sql).toBe(await Bun.file(`${import.meta.dir}/../../drizzle/${name}.sql`).text())
})

test('every commit is flushed, references are checked, and under Litestream no checkpoint is made', async () => {
  for (const [litestream, pages] of [
    [false, 1000],
    [true, 0],
  ] as const) {
    using folder = temporaryFolder()
    const { gate, close } = await openDatabase({
      url: folder.database,
      authToken: null,
      path: folder.file('sgw.db'),
      litestream,
    })
    const pragma = async (name: string): Promise<unknown> =>
      Object.values((await gate.execute(`PRAGMA ${name}`)).rows[0] ?? {})[0]
    expect([
      await pragma('journal_mode'),
      await pragma('synchronous'),
      await pragma('foreign_keys'),
      await pragma('wal_autocheckpoint'),
    ]).toEqual(['wal', 2, 1, pages])
    await close()
  }
})

test('only missing migrations are applied, in order', async () => {
  using folder = temporaryFolder()
  const gate = await openFile(folder.file('a.db'))
  expect(await migrate(gate, [FIRST])).toEqual(['0000_first'])
  expect(await migrate(gate, [FIRST, SECOND])).toEqual(['0001_second'])
  expect(await migrate(gate, [FIRST, SECOND])).toEqual([])
  await gate.close()
})

test('a newer database, an edited migration and a diverged history are refused before any change', async () => {
  using folder = temporaryFolder()
  const gate = await openFile(folder.file('a.db'))
  await migrate(gate, [FIRST, SECOND])
  let copies = 0
  const attempt = (migrations: typeof MIGRATIONS): Promise<string> =>
    refusal(migrate(gate, migrations, { beforeAll: async () => void copies++, beforeEach: () => undefined }))
  expect(await attempt([FIRST])).toContain('The database is newer than this program')
  expect(await attempt([{ ...FIRST, sql: `${FIRST.sql} ` }, SECOND])).toContain('0000_first differs')
  expect(
    await attempt([FIRST, { ...SECOND, name: '0001_other' }, { name: '0002_third', sql: 'DROP TABLE parents' }]),
  ).toContain('0001_second differs')
  expect(copies).toBe(0)
  expect(await tablesOf(gate)).toEqual(['children', 'parents', 'schema_migrations'])
  await gate.close()
})

test('a refusal says which versions can be upgraded, which version opened the database last, and how to get that one', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  await (await openDatabase(options)).close()
  const attempt = async (openedBy: string | null, change: (list: (typeof MIGRATIONS)[number][]) => void) => {
    const database = new Database(folder.file('sgw.db'))
    expect(database.query("SELECT value FROM facts WHERE name = 'opened_by'").get()).toEqual({ value: VERSION })
    if (openedBy === null) database.run("DELETE FROM facts WHERE name = 'opened_by'")
    else database.run("UPDATE facts SET value = ? WHERE name = 'opened_by'", [openedBy])
    database.close()
    const migrations = [...MIGRATIONS]
    change(migrations)
    const message = await refusal(openDatabase({ ...options, migrations }))
    await (await openDatabase(options)).close()
    return message
  }
  const edit = (list: (typeof MIGRATIONS)[number][]): unknown =>
    list.splice(8, 1, { name: '0008_after_sent', sql: 'x' })
  const differs = await attempt('1.1.0-dev+2738616', edit)
  for (const text of [
    `its migration 0008_after_sent differs from ours: ${sha256Hex(MIGRATIONS[8]?.sql ?? '').slice(0, 12)}`,
    'Only databases of releases and commits of main since c3f72dd can be upgraded',
    'docs/upgrade.md',
    '. 1.1.0-dev+2738616 opened it last: git checkout 2738616',
  ])
    expect(differs).toContain(text)
  expect(await attempt(null, edit)).not.toContain('opened it last')
  const newer = await attempt('1.2.0', (list) => list.pop())
  expect(newer).toContain('newer than this program')
  expect(newer).toEndWith('. 1.2.0 opened it last: git checkout v1.2.0')
  expect(await attempt('1.2.0-dev', (list) => list.pop())).toEndWith('. 1.2.0-dev opened it last')
})

test('several statements without a breakpoint are refused before any change, because the driver would run only the first', async () => {
  using folder = temporaryFolder()
  const gate = await openFile(folder.file('a.db'))
  expect(
    await refusal(migrate(gate, [{ name: '0000_two', sql: 'CREATE TABLE a (id); CREATE TABLE b (id);' }])),
  ).toContain('several statements')
  expect(await tablesOf(gate)).toEqual(['schema_migrations'])
  await gate.close()
})

test('comments and a trigger are one statement each', async () => {
  using folder = temporaryFolder()
  const gate = await openFile(folder.file('a.db'))
  const trigger =
    'CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a WHERE id < 0; DELETE FROM a WHERE id > 9; END;'
  await migrate(gate, [
    {
      name: '0000_a',
      sql: `-- a comment;\n--> statement-breakpoint\nCREATE TABLE a (id);--> statement-breakpoint\n${trigger}`,
    },
  ])
  await gate.batch(['INSERT INTO a VALUES (10)', 'INSERT INTO a VALUES (5)'])
  expect((await gate.execute('SELECT id FROM a')).rows.map((row) => row['id'])).toEqual([5])
  await gate.close()
})

test('a failing migration is undone, and the migrations before it remain', async () => {
  using folder = temporaryFolder()
  const gate = await openFile(folder.file('a.db'))
  const broken = {
    name: '0001_broken',
    sql: 'CREATE TABLE more (id);--> statement-breakpoint\nINSERT INTO nowhere VALUES (1);',
  }
  expect(await failureOf(migrate(gate, [FIRST, broken]))).toBeInstanceOf(Error)
  expect(await tablesOf(gate)).toEqual(['children', 'parents', 'schema_migrations'])
  expect(await migrate(gate, [FIRST, SECOND])).toEqual(['0001_second'])
  await gate.close()
})

test('a migration that would leave broken references is undone, at every start', async () => {
  using folder = temporaryFolder()
  for (const enforced of ['ON', 'OFF']) {
    const gate = await openGate({
      url: `file:${folder.file(`${enforced}.db`)}`,
      pragmas: [`foreign_keys = ${enforced}`],
    })
    await migrate(gate, [FIRST])
    await gate.batch(['INSERT INTO parents VALUES (1)', 'INSERT INTO children VALUES (1)'])
    const broken = { name: '0001_broken', sql: 'CREATE TABLE more (id);--> statement-breakpoint\nDELETE FROM parents;' }
    for (let start = 0; start < 2; start++)
      expect(await refusal(migrate(gate, [FIRST, broken]))).toContain('nothing was changed')
    expect((await gate.execute('SELECT count(*) AS n FROM children JOIN parents ON id = parent')).rows[0]?.['n']).toBe(
      1,
    )
    expect(await tablesOf(gate)).not.toContain('more')
    await gate.close()
  }
})

test('an upgrade first copies the complete file, including the newest rows; a repeatedly failing upgrade leaves one copy', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const options = { url: folder.database, authToken: null, path, litestream: false }
  const before = await openDatabase(options)
  await before.writer.write([{ sql: "INSERT INTO facts (name, value) VALUES ('note', 'kept')", args: [] }])
  await before.close()
  const broken = { name: '9999_broken', sql: 'INSERT INTO nowhere VALUES (1)' }
  for (let start = 0; start < 3; start++)
    expect(await failureOf(openDatabase({ ...options, migrations: [...MIGRATIONS, broken] }))).toBeInstanceOf(Error)
  const upgraded = await openDatabase({
    ...options,
    migrations: [...MIGRATIONS, { name: '9999_more', sql: 'CREATE TABLE more (id)' }],
  })
  expect(upgraded.migrated).toEqual(['9999_more'])
  await upgraded.close()
  expect(
    readdirSync(folder.path)
      .filter((name) => name.includes('before'))
      .toSorted(),
  ).toEqual(['sgw.db.before-9999_broken', 'sgw.db.before-9999_more'])
  const copy = new Database(`${path}.before-9999_more`, { readonly: true })
  expect(copy.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(copy.query("SELECT value FROM facts WHERE name = 'note'").get()).toEqual({ value: 'kept' })
  expect(copy.query("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'more'").get()).toEqual({ n: 0 })
  copy.close()
})

test('kill -9 during a migration undoes it, and the next start applies it completely', async () => {
  using folder = temporaryFolder()
  const path = folder.file('a.db')
  await using child = startProgram('test/db/fixtures/slow-migration.ts', [path])
  await child.printed(/migrating/)
  await Bun.sleep(150)
  expect(child.child.exitCode).toBeNull()
  child.kill('SIGKILL')
  await child.ended()
  const gate = await openFile(path)
  expect(await tablesOf(gate)).toEqual(['children', 'parents', 'schema_migrations'])
  expect((await gate.execute('PRAGMA integrity_check')).rows[0]?.['integrity_check']).toBe('ok')
  expect(await migrate(gate, [FIRST, SECOND])).toEqual(['0001_second'])
  await gate.close()
})
