import { COUNT_OPEN_ATTEMPTS, COUNT_QUARANTINED } from '../../db/open-attempts.ts'
import { JOB_KINDS, type JobKindName } from '../../db/schema/jobs.ts'
import type { Gateway } from '../gateway.ts'

/** The unfinished work of all tenants. */
export interface Queue {
  jobs: Record<JobKindName, number>
  openAttempts: number
  /** When the last scheduled message is due, epoch milliseconds; null if none is scheduled. */
  scheduledUntil: number | null
  /** Messages that wait for their lookup after a restore. */
  quarantined: number
}

/** The planner would choose larger indexes for these. */
const INDEXED_BY: Partial<Record<JobKindName, string>> = { send: 'jobs_sends', schedule: 'jobs_scheduled' }
const COUNTS = JOB_KINDS.map((kind) => {
  const index = INDEXED_BY[kind] === undefined ? '' : `INDEXED BY ${INDEXED_BY[kind]}`
  return `(SELECT count(*) FROM jobs ${index} WHERE kind = '${kind}') AS ${kind}`
})
const QUEUE = `SELECT ${COUNTS.join()}, (${COUNT_OPEN_ATTEMPTS}) AS open_attempts,
  (SELECT max(due_at) FROM jobs INDEXED BY jobs_scheduled WHERE kind = 'schedule') AS scheduled_until, (${COUNT_QUARANTINED}) AS quarantined`

/** Counts exactly. */
export async function readQueue({ database }: Pick<Gateway, 'database'>): Promise<Queue> {
  const [row] = await database.reader.longRead('operator', QUEUE, [])
  return {
    jobs: Object.fromEntries(JOB_KINDS.map((kind) => [kind, Number(row?.[kind])])) as Queue['jobs'],
    openAttempts: Number(row?.['open_attempts']),
    scheduledUntil: typeof row?.['scheduled_until'] === 'number' ? row['scheduled_until'] : null,
    quarantined: Number(row?.['quarantined']),
  }
}

/** The message that has waited longest to be sent. */
export interface OldestMessage {
  messageId: string
  tenantId: string
  waitingMs: number
  /** When it began to wait, by the current wall clock. */
  since: number
}

/**
 * Jumps from the first job of one queue to that of the next, so that the length of a queue does not matter. A suspended or deactivated tenant
 * waits on purpose, and must not hide the others.
 */
const OLDEST = `WITH RECURSIVE queues (first, lane, tenant_id) AS (
    SELECT * FROM (SELECT seq, lane, tenant_id FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'send' ORDER BY lane, tenant_id, seq LIMIT 1)
    UNION ALL SELECT jobs.seq, jobs.lane, jobs.tenant_id FROM queues CROSS JOIN jobs ON jobs.seq = coalesce(
      (SELECT seq FROM jobs AS next INDEXED BY jobs_by_lane WHERE kind = 'send' AND lane = queues.lane AND tenant_id > queues.tenant_id
        ORDER BY tenant_id, seq LIMIT 1),
      (SELECT seq FROM jobs AS next INDEXED BY jobs_by_lane WHERE kind = 'send' AND lane > queues.lane ORDER BY lane, tenant_id, seq LIMIT 1)))
  SELECT subject, jobs.tenant_id, created_at FROM queues CROSS JOIN jobs ON seq = first
  WHERE jobs.tenant_id NOT IN (SELECT id FROM tenants WHERE status <> 'active') ORDER BY seq LIMIT 1`

type Reads = Pick<Gateway, 'database' | 'clock'>

/** Returns the oldest message of an active tenant that is not scheduled and has not ended; null if there is none. */
export async function readOldestMessage({ database, clock }: Reads): Promise<OldestMessage | null> {
  const [row] = await database.reader.longRead('operator', OLDEST, [])
  if (row === undefined) return null
  // `created_at` of a send job is steady time.
  const waitingMs = Math.max(0, clock.steady() - Number(row['created_at']))
  const since = Math.floor(clock.now() - waitingMs)
  return { messageId: String(row['subject']), tenantId: String(row['tenant_id']), waitingMs, since }
}
