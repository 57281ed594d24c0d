import type { Reader } from '../../../db/reader.ts'

/** A tenant's messages that have not ended. */
export interface Backlog {
  /** How many messages have the status `queued`, scheduled ones included. */
  queued: number
  scheduled: number
  /** When the first of the scheduled messages was accepted, epoch milliseconds; null if there is none. */
  scheduledSince: number | null
  /** When the oldest unscheduled `queued` message began to wait, or at its `sendAt`, epoch milliseconds; null if there is none. */
  oldestQueuedAt: number | null
  /** How many messages are not scheduled, by the tenant's number. */
  numbers: Map<string, number>
}

/** A row for each number, and one without a number for the scheduled messages, whose `oldest` is the first acceptance. */
const BACKLOG = `SELECT lane, count(*) AS jobs, count(messages.seq) AS queued,
    min(max(messages.created_at, coalesce(messages.send_at, 0))) AS oldest
  FROM json_each(?2) CROSS JOIN jobs ON jobs.kind = 'send' AND jobs.lane = value AND jobs.tenant_id = ?1
  LEFT JOIN messages ON messages.id = jobs.subject AND messages.tenant_id = ?1 AND messages.status = 'queued' GROUP BY lane
  UNION ALL SELECT NULL, count(*), count(*), min(jobs.created_at) FROM jobs WHERE kind = 'schedule' AND tenant_id = ?1`

/** `numbers`: the numbers that have a queue. */
export async function readBacklog(reader: Reader, tenantId: string, numbers: readonly string[]): Promise<Backlog> {
  const backlog: Backlog = { queued: 0, scheduled: 0, scheduledSince: null, oldestQueuedAt: null, numbers: new Map() }
  const rows = await reader.longRead(tenantId, BACKLOG, [tenantId, JSON.stringify(numbers)])
  for (const { lane, jobs, queued, oldest } of rows) {
    backlog.queued += Number(queued)
    const at = typeof oldest === 'number' ? oldest : null
    if (lane === null) {
      backlog.scheduled = Number(jobs)
      backlog.scheduledSince = at
      continue
    }
    backlog.numbers.set(String(lane), Number(jobs))
    if (at !== null) backlog.oldestQueuedAt = Math.min(at, backlog.oldestQueuedAt ?? Infinity)
  }
  return backlog
}
