import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { temporaryFolder } from '../support/process.ts'

const LAST_WITH_FAN_OUT = MIGRATIONS.findIndex(({ name }) => name === '0009_opt_outs_by_number') + 1

test('fan-out jobs of an older database become the jobs of the destinations that they had left', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  const older = await openDatabase({ ...options, migrations: MIGRATIONS.slice(0, LAST_WITH_FAN_OUT) })
  const trigger = (seq: number, tenant: string) =>
    `INSERT INTO triggers (seq, id, tenant_id, callback_url, secret, created_at) VALUES (${seq}, 'trg_${seq}', '${tenant}', 'https://a.example/', 's', 1)`
  const app = (seq: number, columns: string) =>
    `INSERT INTO apps (seq, id, tenant_id, name, role, webhook_url, webhook_events, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      VALUES (${seq}, 'app_${seq}', 'tenant_a', 'App', 'app', ${columns}, 'hash ${seq}', 'sgw_', 's', 1, 1)`
  const message = (id: string) =>
    `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      VALUES ('${id}', 'job_${id}', 'tenant_a', 'app_1', 'inbound', '+15555550199', '+15555550100', 'Hello', 'received', 7, 7)`
  const job = (kind: string, lane: string, subject: string) =>
    `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at) VALUES ('job_1', '${kind}', '${lane}', 'tenant_a', '${subject}', 0, 7)`
  for (const sql of [
    ...['tenant_a', 'tenant_b'].map(
      (id) => `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${id}', 'A', 'active', 1, 1)`,
    ),
    ...[1, 2, 3].map((seq) => trigger(seq, 'tenant_a')),
    trigger(4, 'tenant_b'),
    app(1, "'https://a.example/', NULL, 1"),
    app(2, "'https://a.example/', NULL, 1"),
    app(3, "'https://a.example/', 3, 1"),
    app(4, 'NULL, NULL, 1'),
    app(5, "'https://a.example/', NULL, 0"),
    app(6, "'https://a.example/', 2, 1"),
    message('one'),
    message('two'),
    job('fan_out', 'trigger', 'one:2'),
    job('fan_out', 'app', 'two:2'),
    job('fan_out', 'app', 'erased:1'),
    job('webhook', 'app_1', 'two:app_1'),
  ])
    await older.gate.execute(sql)
  await older.close()
  const { gate, close } = await openDatabase(options)
  const { rows } = await gate.execute('SELECT id, kind, lane, subject, due_at, created_at FROM jobs ORDER BY seq')
  await close()
  const made = { kind: 'webhook', due_at: 0, created_at: 7 }
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { ...made, id: 'job_1', lane: 'app_1', subject: 'two:app_1' },
    { ...made, id: 'job_one', lane: 'trg_2', subject: 'one:trg_2' },
    { ...made, id: 'job_one', lane: 'trg_3', subject: 'one:trg_3' },
    { ...made, id: 'job_two', lane: 'app_2', subject: 'two:app_2' },
    { ...made, id: 'job_two', lane: 'app_3', subject: 'two:app_3' },
  ])
})
