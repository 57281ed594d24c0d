import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { temporaryFolder } from '../support/process.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.endsWith('_cancelled_messages'))
const HALF_HOUR_MS = 1_800_000

test('the upgrade counts the cancelled messages that are stored, in the half hours whose failures were counted', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  const older = await openDatabase({ ...options, migrations: MIGRATIONS.slice(0, BEFORE) })
  let seq = 0
  const failed = (tenantId: string, appId: string, halfHour: number, code: string) => ({
    sql: `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, error, error_code, created_at, updated_at)
      VALUES (?1, 'job', ?2, ?3, 'outbound', '+1', '+2', 'Hi', 'failed', 'text', ?4, 0, ?5)`,
    args: [`msg_${++seq}`, tenantId, appId, code, halfHour * HALF_HOUR_MS + seq],
  })
  const counted = (tenantId: string, appId: string, halfHour: number, latencyMs: number, count: number) => ({
    sql: 'INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, failed) VALUES (?1, ?2, ?3, ?4, ?5)',
    args: [tenantId, halfHour, appId, latencyMs, count],
  })
  await older.gate.batch([
    counted('tenant_a', 'app_1', 10, 0, 3),
    counted('tenant_a', 'app_1', 10, 256, 0),
    counted('tenant_a', 'app_2', 10, 0, 1),
    counted('tenant_b', 'app_3', 11, 0, 1),
    ...['cancelled', 'cancelled', 'expired'].map((code) => failed('tenant_a', 'app_1', 10, code)),
    failed('tenant_a', 'app_2', 10, 'revoked'),
    failed('tenant_a', 'app_2', 9, 'cancelled'),
    failed('tenant_b', 'app_3', 11, 'cancelled'),
    failed('tenant_b', 'app_3', 11, 'cancelled'),
  ])
  await older.close()
  const { gate, close } = await openDatabase(options)
  const sql = 'SELECT tenant_id, app_id, half_hour, latency_ms, failed, cancelled FROM usage ORDER BY 1, 2, 3, 4'
  const { rows } = await gate.execute(sql)
  await close()
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['tenant_a', 'app_1', 10, 0, 3, 2],
    ['tenant_a', 'app_1', 10, 256, 0, 0],
    ['tenant_a', 'app_2', 10, 0, 1, 0],
    ['tenant_b', 'app_3', 11, 0, 1, 1],
  ])
})
