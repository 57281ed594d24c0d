import { and, gt, ne, or } from 'drizzle-orm'
import { MAX_RETRY_DELAY_MS } from '../core/limits.ts'
import type { Gate } from '../db/gate.ts'
import { type JobKindName, jobs } from '../db/schema/jobs.ts'
import { build, statementOf } from '../db/statement.ts'
import type { Job, LoopKindName } from './job.ts'

export interface LaneRequest {
  lane: string
  tenantId: string
  after: number
  limit: number
}

/** What a lane's jobs are ordered by. */
export type LaneOrder = 'seq' | 'due_at'

/**
 * A LIMIT cannot refer to a column, so each lane is a query of its own within one statement. The kind stands in the text:
 * by a parameter SQLite would not use the index of retries.
 */
const oneLane = (kind: LoopKindName, order: LaneOrder): string =>
  `SELECT * FROM (SELECT seq, id, lane, tenant_id, subject, due_at FROM jobs
    WHERE kind = '${kind}' AND lane = ? AND tenant_id = ? AND seq > ? AND due_at <= ? ORDER BY ${order} LIMIT ?)`

/** Reads the first due jobs after the cursor of each lane, in one query. */
export async function readDueJobs(
  gate: Gate,
  kind: LoopKindName,
  order: LaneOrder,
  requests: readonly LaneRequest[],
  steadyNow: number,
): Promise<Job[]> {
  const { rows } = await gate.execute({
    sql: `${requests.map(() => oneLane(kind, order)).join(' UNION ALL ')} ORDER BY ${order}`,
    args: requests.flatMap(({ lane, tenantId, after, limit }) => [lane, tenantId, after, steadyNow, limit]),
  })
  return rows.map((row) => ({
    seq: Number(row['seq']),
    id: String(row['id']),
    kind,
    lane: String(row['lane']),
    tenantId: String(row['tenant_id']),
    subject: String(row['subject']),
  }))
}

/** Reads all lanes that have jobs of that kind. Jumps from lane to lane along the index instead of reading every job. */
export async function readLanes(gate: Gate, kind: JobKindName): Promise<{ lane: string; tenantId: string }[]> {
  const { rows } = await gate.execute({
    sql: `WITH RECURSIVE firsts (seq) AS (
        SELECT (SELECT seq FROM jobs WHERE kind = ?1 ORDER BY lane, tenant_id LIMIT 1)
        UNION ALL
        SELECT coalesce(
          (SELECT seq FROM jobs WHERE kind = ?1 AND lane = here.lane AND tenant_id > here.tenant_id ORDER BY tenant_id LIMIT 1),
          (SELECT seq FROM jobs WHERE kind = ?1 AND lane > here.lane ORDER BY lane, tenant_id LIMIT 1))
        FROM firsts JOIN jobs AS here ON here.seq = firsts.seq)
      SELECT lane, tenant_id FROM jobs WHERE seq IN (SELECT seq FROM firsts)`,
    args: [kind],
  })
  return rows.map((row) => ({ lane: String(row['lane']), tenantId: String(row['tenant_id']) }))
}

/** The earliest due time after `then` in the lane, steady time; null if there is none. */
export async function readNextDue(
  gate: Gate,
  kind: LoopKindName,
  lane: Omit<LaneRequest, 'after' | 'limit'>,
  then: number,
): Promise<number | null> {
  const { rows } = await gate.execute({
    sql: `SELECT min(due_at) AS at FROM jobs WHERE kind = '${kind}' AND lane = ?1 AND tenant_id = ?2 AND due_at > ?3`,
    args: [lane.lane, lane.tenantId, then],
  })
  const at = rows[0]?.['at']
  return typeof at === 'number' ? at : null
}

/**
 * Makes all jobs due at the start, except scheduled messages and webhook retries: delays belonged to the earlier process. A retry
 * that is due later than the longest delay is made due, too, because the clock was set back.
 */
export async function makeAllDue(gate: Gate, steadyNow: number): Promise<void> {
  const losesDelay = or(ne(jobs.kind, 'webhook_retry'), gt(jobs.dueAt, steadyNow + MAX_RETRY_DELAY_MS))
  const isResettable = and(gt(jobs.dueAt, steadyNow), ne(jobs.kind, 'schedule'), losesDelay)
  await gate.execute(statementOf(build.update(jobs).set({ dueAt: steadyNow }).where(isResettable)))
}
