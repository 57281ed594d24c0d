import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedRows } from '../../bench/support/seed-lists.ts'
import { openGate } from '../../src/db/gate.ts'

const COLUMNS = 'id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at'

test('a database of another commit can be filled: columns that it lacks are left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  const gate = await openGate({ url: `file:${join(folder, 'other.db')}`, pragmas: [] })
  await gate.execute(`CREATE TABLE messages (${COLUMNS}, of_that_commit)`)
  await gate.execute('CREATE TABLE webhook_attempts (delivery_id, tenant_id, outcome, of_that_commit)')
  const times = { since: Date.parse('2026-01-01'), until: Date.parse('2026-02-01') }
  await seedRows(gate, { count: 200, ...times, tenants: ['tenant_1'], share: 1, appId: 'app_1' })
  const sql = `SELECT (SELECT count(*) FROM messages WHERE status IN ('sent', 'failed', 'received')) AS messages,
    (SELECT count(*) FROM messages WHERE direction = 'inbound') AS inbound, (SELECT count(*) FROM webhook_attempts) AS deliveries`
  const [counts] = (await gate.execute(sql)).rows
  await gate.close()
  expect(counts?.['messages']).toBe(200)
  expect(Number(counts?.['inbound'])).toBeGreaterThan(20)
  expect(counts?.['deliveries']).toBe(Number(counts?.['inbound']))
})
