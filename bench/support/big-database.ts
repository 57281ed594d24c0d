import { openGate } from '../../src/db/gate.ts'
import { writeManyMessages } from '../../test/support/many-messages.ts'
import type { Stage } from '../torture/stage.ts'

const SECOND_MS = 1000

/**
 * Ends the stage's gateway and fills its database: messages that are done, and messages with their jobs that wait. They
 * keep waiting as long as their extension is paused.
 */
export async function fillDatabase(stage: Stage, messages: number, queued: number): Promise<void> {
  await stage.gateway.kill()
  const gate = await openGate({ url: `file:${stage.databasePath}`, pragmas: ['synchronous = OFF'] })
  try {
    const [app] = (await gate.execute('SELECT id, tenant_id FROM apps')).rows
    const ids = { tenantId: String(app?.['tenant_id']), appId: String(app?.['id']) }
    const now = Date.now()
    await writeManyMessages(gate, { count: messages, since: now - messages * SECOND_MS, ...ids })
    await gate.execute(NOTE_OLD)
    const numbers = { first: messages, end: messages + queued, now, from: stage.numbers[0] ?? '' }
    const args = { ...numbers, tenant: ids.tenantId, app: ids.appId }
    await gate.batch([QUEUED, JOBS].map((sql) => ({ sql, args })))
  } finally {
    await gate.close()
  }
}

/** As a gateway does that has run for some minutes since: none of them counts in a rate window. */
const NOTE_OLD = `UPDATE facts SET value = (SELECT max(seq) FROM messages) WHERE name IN ('windows_after', 'windows_next')`

/** `CAST`: JavaScript's numbers arrive as REAL, which `printf` and an id would show. */
const DRAWN = `WITH RECURSIVE numbers (n) AS (SELECT CAST(:first AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :end),
  drawn AS (SELECT n, printf('msg_%012x', n) AS id, printf('job_%016x', n) AS job, CAST(:now AS INTEGER) AS at,
    :from AS sender, :tenant AS tenant, :app AS app FROM numbers)`

const QUEUED = `${DRAWN}
  INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
  SELECT id, job, tenant, app, 'outbound', sender, printf('+1555777%04d', n % 10000), 'Message number ' || n || ' waits', 'queued', at, at FROM drawn`

const JOBS = `${DRAWN}
  INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT job, 'send', sender, tenant, id, at, at FROM drawn`
