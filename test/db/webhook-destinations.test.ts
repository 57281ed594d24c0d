import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { temporaryFolder } from '../support/process.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.endsWith('_webhook_attempts'))

test('the upgrade learns from stored attempts how each webhook destination does', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  const older = await openDatabase({ ...options, migrations: MIGRATIONS.slice(0, BEFORE) })
  let seq = 0
  const attempt = (targetId: string, outcome: string | null, statusCode: number | null = null) => ({
    sql: `INSERT INTO deliveries (seq, delivery_id, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome, status_code, duration_ms)
      VALUES (?1, 'delivery ' || ?1, 'tenant_a', ?2, ?3, 'msg_1', 'cor_1', '', '', ?1 * 10, ?4, ?5, 3)`,
    args: [++seq, targetId.startsWith('app') ? 'app' : 'trigger', targetId, outcome, statusCode],
  })
  await older.gate.batch([
    attempt('app_1', 'timeout'),
    attempt('app_1', 'success', 200),
    attempt('app_1', 'http_error', 500),
    attempt('app_1', 'http_error', 503),
    attempt('app_1', null),
    attempt('trg_1', 'timeout'),
    attempt('trg_1', 'success', 204),
    attempt('trg_2', 'network_error'),
    attempt('trg_3', null),
  ])
  await older.close()
  const { gate, close } = await openDatabase(options)
  const { rows } = await gate.execute(
    `SELECT target_id, kind, last_outcome, last_status_code AS status, failing_since, failures, ended_at
      FROM webhook_destinations WHERE tenant_id = 'tenant_a' ORDER BY target_id`,
  )
  await close()
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['app_1', 'app', 'http_error', 503, 30, 2, 43],
    ['trg_1', 'trigger', 'success', 204, null, 0, 73],
    ['trg_2', 'trigger', 'network_error', null, 80, 1, 83],
  ])
})
