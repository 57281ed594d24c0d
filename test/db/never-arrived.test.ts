import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { temporaryFolder } from '../support/process.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.endsWith('_never_arrived'))

test('the upgrade finds the deliveries that had failed before, by their latest attempt alone', async () => {
  using folder = temporaryFolder()
  const options = { url: folder.database, authToken: null, path: folder.file('sgw.db'), litestream: false }
  const older = await openDatabase({ ...options, migrations: MIGRATIONS.slice(0, BEFORE) })
  let seq = 0
  const attempt = (deliveryId: string, attemptNumber: number, outcome: string | null) => ({
    sql: `INSERT INTO webhook_attempts (seq, delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome)
      VALUES (?1, ?2, ?3, 'tenant_a', 'app', 'app_1', 'msg_1', 'cor_1', '', '', ?1, ?4)`,
    args: [++seq, deliveryId, attemptNumber, outcome],
  })
  await older.gate.batch([
    attempt('fine', 1, 'success'),
    attempt('lost', 1, 'http_error'),
    attempt('recovered', 1, 'timeout'),
    attempt('failed again', 1, 'timeout'),
    attempt('failed again', 2, 'network_error'),
    attempt('under way', 1, 'timeout'),
    attempt('under way', 2, null),
    attempt('first under way', 1, null),
    attempt('recovered', 2, 'success'),
    attempt('delivered twice, the second time in vain', 1, 'success'),
    attempt('delivered twice, the second time in vain', 2, 'timeout'),
  ])
  await older.close()
  const { gate, close } = await openDatabase(options)
  const { rows } = await gate.execute('SELECT seq FROM webhook_attempts WHERE is_unresolved IS NOT NULL ORDER BY seq')
  await close()
  expect(rows.map((row) => Number(row['seq']))).toEqual([2, 5, 11])
})
