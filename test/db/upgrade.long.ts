import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type UpgradeStep, openDatabase } from '../../src/db/database.ts'
import { type ListPage, readPage } from '../../src/db/list-page.ts'
import { openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS, type Migration } from '../../src/db/migrations.ts'
import { writeManyMessages, writeManyOldMessages } from '../support/many-messages.ts'
import { RELEASE_1 } from './release-1.ts'

const MESSAGES = 5000

/** A migration of a later release: a new column, and an index over every message. */
const NEXT: Migration = {
  name: '9999_next',
  sql: 'ALTER TABLE messages ADD COLUMN note TEXT;\n--> statement-breakpoint\nCREATE INDEX messages_by_note ON messages (tenant_id, note, status);',
}
const NEWER = [...MIGRATIONS, NEXT]

let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sgw-upgrade-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a database with these migrations and with messages. */
async function databaseWith(migrations: readonly Migration[], count = MESSAGES): Promise<string> {
  const path = join(folder, 'sgw.db')
  const gate = await openGate({
    url: `file:${path}`,
    pragmas: ['journal_mode = WAL', 'synchronous = OFF'],
  })
  await migrate(gate, migrations)
  await gate.execute(
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('tenant_0000000000000001', 'Old', 'active', 1, 1)`,
  )
  const writeAll = migrations.length <= RELEASE_1.length ? writeManyOldMessages : writeManyMessages
  await writeAll(gate, {
    count,
    since: Date.parse('2026-01-01T00:00:00Z'),
    tenantId: 'tenant_0000000000000001',
    appId: 'app_0000000000000001',
  })
  await gate.close()
  return path
}

interface Contents {
  integrity: string
  messages: number
  attempts: number
  deliveries: number
  digest: string
}

/** Reads the contents that an upgrade must not change. */
function contentsOf(path: string): Contents {
  const database = new Database(path)
  try {
    const one = (sql: string): string =>
      String(Object.values(database.query<Record<string, unknown>, []>(sql).get() ?? {})[0])
    const attempts = one("SELECT name FROM sqlite_schema WHERE name IN ('deliveries', 'webhook_attempts')")
    return {
      integrity: one('PRAGMA integrity_check'),
      messages: Number(one('SELECT count(*) FROM messages')),
      attempts: Number(one('SELECT count(*) FROM send_attempts')),
      deliveries: Number(one(`SELECT count(*) FROM ${attempts}`)),
      digest: one(
        'SELECT sum(length(id || status || body || from_number || to_number) * (seq % 97)) || max(created_at) FROM messages',
      ),
    }
  } finally {
    database.close()
  }
}

for (const [index, { name }] of MIGRATIONS.entries()) {
  test(`a database of ${name} is upgraded to the newest schema without losing a row`, async () => {
    const path = await databaseWith(MIGRATIONS.slice(0, index + 1))
    const before = contentsOf(path)
    expect(before).toMatchObject({
      integrity: 'ok',
      messages: MESSAGES,
      attempts: MESSAGES * 0.75,
      deliveries: MESSAGES / 4,
    })
    const steps: UpgradeStep[] = []
    const upgraded = await openDatabase({
      url: `file:${path}`,
      authToken: null,
      path,
      litestream: false,
      migrations: NEWER,
      progress: (step) => steps.push(step),
    })
    await upgraded.close()
    expect(upgraded.migrated).toEqual(NEWER.slice(index + 1).map((migration) => migration.name))
    expect(contentsOf(path)).toEqual(before)
    const [first] = NEWER.slice(index + 1)
    expect(contentsOf(`${path}.before-${first?.name ?? ''}`)).toEqual(before)
    expect(steps.map(({ migration }) => migration)).toEqual([undefined, ...upgraded.migrated])
    expect(steps.map(({ step }) => step)).toEqual(['copying', ...upgraded.migrated.map(() => 'migrating' as const)])
    expect(steps.at(-1)).toMatchObject({ number: upgraded.migrated.length, of: upgraded.migrated.length })
    for (const { expectedSeconds } of steps) expect(expectedSeconds).toBeGreaterThan(0)
  })
}

test.each([1, 10])('lists are exact after the upgrade of a database with %d migrations', async (count) => {
  const path = await databaseWith(MIGRATIONS.slice(0, count))
  const database = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  const query: ListPage = {
    table: 'messages',
    at: 'created_at',
    filters: { 'direction = ?': 'inbound' },
    page: 3,
    limit: 100,
  }
  const { total, items } = await readPage(database.reader, 'tenant_0000000000000001', query)
  expect(total).toBe(MESSAGES / 4)
  const { rows } = await database.gate.execute(
    `SELECT ${total} AS total, messages.* FROM messages WHERE direction = 'inbound' ORDER BY created_at DESC, seq DESC LIMIT 100 OFFSET 200`,
  )
  expect(items).toEqual(rows)
  await database.close()
})

test('after a failed upgrade, the previous release starts with the copy', async () => {
  const path = join(folder, 'sgw.db')
  const options = { url: `file:${path}`, authToken: null, path, litestream: false }
  await (await openDatabase(options)).close()
  await (await openDatabase({ ...options, migrations: NEWER })).close()
  const refusal: unknown = await openDatabase(options).catch((error: unknown) => error)
  expect(String(refusal)).toContain('newer than this program')
  const copy = `${path}.before-${NEXT.name}`
  expect(existsSync(copy)).toBe(true)
  const back = await openDatabase({ ...options, url: `file:${copy}`, path: copy })
  expect(back.migrated).toEqual([])
  await back.close()
})

test('the upgrade finds the app that last wrote to a contact, for tenants with several apps', async () => {
  const contacts = 10_000
  // Contacts repeat after ten thousand messages.
  const path = await databaseWith(MIGRATIONS.slice(0, 4), contacts + 20)
  const older = await openGate({ url: `file:${path}`, pragmas: [] })
  const app = (id: string, tenant: string): string =>
    `INSERT INTO apps (id, tenant_id, name, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      VALUES ('${id}', '${tenant}', 'App', 'app', 1, '${id}', 'p', 's', 1, 1)`
  const tenant = 'tenant_0000000000000001'
  await older.batch([
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('tenant_0000000000000002', 'One app', 'active', 1, 1)`,
    app('app_0000000000000001', tenant),
    app('app_0000000000000002', tenant),
    app('app_0000000000000003', 'tenant_0000000000000002'),
    `UPDATE messages SET app_id = 'app_0000000000000002' WHERE seq IN (SELECT seq FROM messages WHERE to_number = '+15557770004' ORDER BY seq DESC LIMIT 1)`,
    `UPDATE messages SET app_id = 'app_0000000000000002' WHERE seq IN (SELECT seq FROM messages WHERE to_number = '+15557770008' ORDER BY seq LIMIT 1)`,
    `UPDATE messages SET tenant_id = 'tenant_0000000000000002' WHERE to_number = '+15557770012'`,
    // There is another tenant with several apps, and the clock was set back.
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('tenant_0000000000000003', 'Third', 'active', 1, 1)`,
    app('app_0000000000000004', 'tenant_0000000000000003'),
    app('app_0000000000000005', 'tenant_0000000000000003'),
    `UPDATE messages SET tenant_id = 'tenant_0000000000000003', app_id = 'app_0000000000000005'
      WHERE seq = (SELECT min(seq) FROM messages WHERE to_number = '+15557770016')`,
    `UPDATE messages SET app_id = 'app_0000000000000002', created_at = 5
      WHERE seq = (SELECT max(seq) FROM messages WHERE to_number = '+15557770016')`,
  ])
  await older.close()
  const database = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  try {
    const { rows } = await database.gate.execute(
      `SELECT contact, app_id, written_at = (SELECT max(created_at) FROM messages WHERE to_number = contact) AS newest
        FROM contact_owners WHERE contact IN ('+15557770004', '+15557770008', '+15557770012') AND number = '+15555550100' ORDER BY contact`,
    )
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { contact: '+15557770004', app_id: 'app_0000000000000002', newest: 1 },
      { contact: '+15557770008', app_id: 'app_0000000000000001', newest: 1 },
    ])
    const both = await database.gate.execute(
      `SELECT tenant_id, app_id, written_at = 5 AS is_newest FROM contact_owners WHERE contact = '+15557770016' ORDER BY tenant_id`,
    )
    expect(both.rows.map((row) => ({ ...row }))).toEqual([
      { tenant_id: tenant, app_id: 'app_0000000000000002', is_newest: 1 },
      { tenant_id: 'tenant_0000000000000003', app_id: 'app_0000000000000005', is_newest: 0 },
    ])
    const [count] = (await database.gate.execute('SELECT count(*) AS count FROM contact_owners')).rows
    expect(count?.['count']).toBe(contacts * 0.75 - 1 + 1)
  } finally {
    await database.close()
  }
})

test('messages that waited for their fan-out get their deliveries', async () => {
  const path = await databaseWith(MIGRATIONS.slice(0, 2))
  const older = await openGate({ url: `file:${path}`, pragmas: [] })
  const app = `INSERT INTO apps (id, tenant_id, name, webhook_url, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
    VALUES (?1, 'tenant_0000000000000001', 'Old', ?2, 'app', ?3, ?1, 'sgw_', 'sealed', 1, 1)`
  const job = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at) VALUES ('job_1', 'fan_out', 'tenant_0000000000000001', 'tenant_0000000000000001', 'msg_1', 2, 3)`
  await older.batch([
    { sql: app, args: ['app_1', 'https://hooks.example.com/', 1] },
    { sql: app, args: ['app_2', null, 1] },
    { sql: app, args: ['app_3', 'https://hooks.example.com/', 0] },
    `INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at) VALUES ('trg_1', 'tenant_0000000000000001', 'https://hooks.example.com/', 'sealed', 1)`,
    job,
  ])
  await older.close()
  const database = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  const { rows } = await database.gate.execute(
    'SELECT id, kind, lane, subject, due_at, created_at FROM jobs ORDER BY lane',
  )
  await database.close()
  const made = { id: 'job_1', kind: 'webhook', due_at: 2, created_at: 3 }
  expect(rows).toEqual([
    { ...made, lane: 'app_1', subject: 'msg_1:app_1' },
    { ...made, lane: 'trg_1', subject: 'msg_1:trg_1' },
  ])
})
