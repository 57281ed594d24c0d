import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { openGate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { IS_QUARANTINED } from '../../src/messages/sending/quarantine.ts'
import { temporaryFolder } from '../support/process.ts'

const MESSAGES = 100_000

const numbers = (count: number): string =>
  `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`

test('the upgrade keeps the quarantine of a restored database with many waiting messages, and the owners of contacts', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const old = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL'] })
  await migrate(
    old,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name.startsWith('0010_')),
    ),
  )
  await old.batch([
    `${numbers(MESSAGES)} INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT 'msg_' || n, 'job_' || n, 'tenant', 'app', 'outbound', '+15555550100', '+1' || n, 'text', 'queued', n, n FROM numbers`,
    // The newest hundred came after the restore.
    `${numbers(MESSAGES)} INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, is_quarantined, created_at)
      SELECT 'job_' || n, 'send', '+15555550100', 'tenant', 'msg_' || n, '+1' || n, n <= ${MESSAGES - 100}, n FROM numbers`,
    `INSERT INTO conversations (contact, number, tenant_id, app_id, written_at) VALUES ('+1', '+2', 'tenant', 'app', 3)`,
  ])
  await old.close()
  const { gate, close } = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  const count = async (sql: string): Promise<unknown> => (await gate.execute(sql)).rows[0]?.['count']
  expect(await count(`SELECT count(*) AS count FROM jobs WHERE ${IS_QUARANTINED}`)).toBe(MESSAGES - 100)
  expect(await count('SELECT count(*) AS count FROM jobs')).toBe(MESSAGES)
  expect((await gate.execute('SELECT contact, number, written_at FROM contact_owners')).rows).toEqual([
    { contact: '+1', number: '+2', written_at: 3 },
  ])
  await gate.execute(`INSERT INTO send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at)
    VALUES ('msg_1', 'tenant', '1', '+15555550100', '+11', 'boot', 1)`)
  expect(await count(`SELECT count(*) AS count FROM jobs WHERE ${IS_QUARANTINED}`)).toBe(MESSAGES - 101)
  await close()
})

test('the upgrade of a database that was never restored quarantines nothing', async () => {
  using folder = temporaryFolder()
  const path = folder.file('sgw.db')
  const old = await openGate({ url: `file:${path}`, pragmas: ['journal_mode = WAL'] })
  await migrate(
    old,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name.startsWith('0010_')),
    ),
  )
  await old.close()
  const { gate, close } = await openDatabase({ url: `file:${path}`, authToken: null, path, litestream: false })
  expect((await gate.execute(`SELECT 1 FROM facts WHERE name = 'quarantine'`)).rows).toEqual([])
  await close()
})
