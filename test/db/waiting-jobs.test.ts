import { expect, spyOn, test } from 'bun:test'
import type { InStatement } from '@libsql/client'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { expireMessages } from '../../src/messages/sending/expire.ts'
import { manualClock } from '../support/manual-clock.ts'
import { createWorld } from '../support/world.ts'

test('queries for waiting messages do not read jobs of other kinds or tenants, which may wait for weeks', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { gate, reader } = world.gateway.database
  const insert = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT 'job_' || i, 'schedule', 'msg_' || i, ?1, 'msg_' || i, 9e12, 0 FROM n`
  await gate.execute({ sql: insert, args: [world.tenantId] })
  const statements: InStatement[] = []
  const note = (statement: InStatement): void => void statements.push(statement)
  const [execute, batch] = [gate.execute.bind(gate), gate.batch.bind(gate)]
  const longRead = reader.longRead.bind(reader)
  const spies = [
    spyOn(gate, 'execute').mockImplementation((one) => (note(one), execute(one))),
    spyOn(gate, 'batch').mockImplementation((all) => (all.forEach(note), batch(all))),
    spyOn(reader, 'longRead').mockImplementation((tenantId, sql, args) => {
      note({ sql, args: [...args] })
      return longRead(tenantId, sql, args)
    }),
  ]
  const { body } = await world.json<{ scheduled: number }>('GET', '/v1/overview')
  expect(body.scheduled).toBe(12_000)
  await expireMessages(world.gateway.sending, world.gateway.lifecycle)
  await new Alerts(world.gateway, 'http://127.0.0.1:1/').run()
  for (const spy of spies) spy.mockRestore()
  const ofJobs = statements.flatMap((one) => {
    const { sql, args = [] } = typeof one === 'string' ? { sql: one } : one
    return sql.includes('jobs') ? [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }] : []
  })
  expect(ofJobs.length).toBeGreaterThanOrEqual(3)
  for (const explain of ofJobs) {
    const plan = (await gate.execute(explain)).rows
      .map((row) => String(row['detail']))
      .filter((line) => / jobs\b/.test(line))
      // The first row of the index, where a jump from queue to queue begins (test/messages/gateway-state/queue.test.ts).
      .filter(
        (line) => !(explain.sql.includes('WITH RECURSIVE queues') && line.endsWith('INDEX jobs_by_lane (kind=?)')),
      )
    for (const line of plan)
      expect([explain.sql, line]).toEqual([explain.sql, expect.not.stringMatching(/SCAN jobs$|\(kind=\?\)$/)])
  }
})
