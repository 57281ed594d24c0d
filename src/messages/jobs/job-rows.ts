import { and, eq, exists, gt, ne, or } from 'drizzle-orm'
import { MAX_RETRY_DELAY_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { Gate } from '../../db/gate.ts'
import type { Orm } from '../../db/orm.ts'
import { type JobKindName, jobs } from '../../db/schema/jobs.ts'
import { webhookAttempts } from '../../db/schema/webhooks.ts'
import { DONE, type Job, type JobOutcome, type LoopContext, type LoopKindName } from './job.ts'

export interface LaneAddress {
  lane: string
  tenantId: string
}

/** A row of the jobs table, with the steady time from which it may run. */
export interface StoredJob extends Job {
  dueAt: number
}

/** The kind is in the text: with a parameter, SQLite would not use the partial index of the job loops. */
const firstJobs = (kind: LoopKindName): string => `SELECT jobs.seq, jobs.id, lane, tenant_id, subject, due_at
  FROM json_each(?1) AS wanted CROSS JOIN jobs ON jobs.seq IN (
    SELECT own.seq FROM jobs AS own
    WHERE own.kind = '${kind}' AND own.lane = wanted.value ->> 'lane' AND own.tenant_id = wanted.value ->> 'tenantId'
      AND own.seq NOT IN (SELECT value FROM json_each(?2))
    ORDER BY own.due_at, own.seq LIMIT ?3)
  ORDER BY due_at, jobs.seq`

/** Reads the first `limit` jobs of each lane by due time, including jobs that are not due yet, but without those in `running`. */
export async function readFirstJobs(
  gate: Gate,
  kind: LoopKindName,
  lanes: readonly LaneAddress[],
  running: readonly number[],
  limit: number,
): Promise<StoredJob[]> {
  const wanted = lanes.map(({ lane, tenantId }) => ({ lane, tenantId }))
  const { rows } = await gate.execute({
    sql: firstJobs(kind),
    args: [JSON.stringify(wanted), JSON.stringify(running), limit],
  })
  return rows.map((row) => ({
    seq: Number(row['seq']),
    id: String(row['id']),
    kind,
    lane: String(row['lane']),
    tenantId: String(row['tenant_id']),
    subject: String(row['subject']),
    dueAt: Number(row['due_at']),
  }))
}

/** Reads all lanes that have jobs of that kind. Jumps from lane to lane along the index instead of reading every job. */
export async function readLanes(gate: Gate, kind: JobKindName): Promise<LaneAddress[]> {
  const own = `kind = '${kind}'`
  const { rows } = await gate.execute(`WITH RECURSIVE firsts (seq) AS (
      SELECT (SELECT seq FROM jobs WHERE ${own} ORDER BY lane, tenant_id LIMIT 1)
      UNION ALL
      SELECT coalesce(
        (SELECT seq FROM jobs WHERE ${own} AND lane = here.lane AND tenant_id > here.tenant_id ORDER BY tenant_id LIMIT 1),
        (SELECT seq FROM jobs WHERE ${own} AND lane > here.lane ORDER BY lane, tenant_id LIMIT 1))
      FROM firsts JOIN jobs AS here ON here.seq = firsts.seq)
    SELECT lane, tenant_id FROM jobs WHERE seq IN (SELECT seq FROM firsts)`)
  return rows.map((row) => ({ lane: String(row['lane']), tenantId: String(row['tenant_id']) }))
}

/** An attempt that is further in the future shows that the clock was set back. */
const CLOCK_TOLERANCE_MS = 60_000

/**
 * Makes all jobs due at the start, except scheduled messages and webhook retries: delays belonged to the earlier process. A retry also becomes
 * due if the clock was set back: it is due later than the longest delay, or its last attempt is in the future.
 */
export async function makeAllDue(orm: Orm, steadyNow: number): Promise<void> {
  const future = gt(webhookAttempts.attemptedAt, steadyNow + CLOCK_TOLERANCE_MS)
  const madeInFuture = orm.select({ seq: webhookAttempts.seq }).from(webhookAttempts)
  const losesDelay = or(
    ne(jobs.kind, 'webhook_retry'),
    gt(jobs.dueAt, steadyNow + MAX_RETRY_DELAY_MS),
    exists(madeInFuture.where(and(eq(webhookAttempts.deliveryId, jobs.subject), future))),
  )
  const isResettable = and(gt(jobs.dueAt, steadyNow), ne(jobs.kind, 'schedule'), losesDelay)
  await orm.update(jobs).set({ dueAt: steadyNow }).where(isResettable)
}

/** Deletes a job, for example because its subject is gone. */
export async function deleteJob({ writer }: Pick<LoopContext, 'writer'>, { seq }: Job): Promise<JobOutcome> {
  await writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [seq] }])
  return DONE
}

/** Stores when the job is due again. If that fails, the time is kept in memory until the next start. */
export async function storeSnooze(
  { clock, writer, log }: Pick<LoopContext, 'writer' | 'clock' | 'log'>,
  job: Job,
  delayMs: number,
): Promise<void> {
  const dueAt = Math.ceil(clock.steady() + delayMs)
  await writer
    .write([{ sql: 'UPDATE jobs SET due_at = ?2 WHERE seq = ?1', args: [job.seq, dueAt] }])
    .catch((error: unknown) =>
      log.warn(
        { jobId: job.id, error: errorName(error) },
        'the time of a snoozed job could not be stored; it is kept in memory until the next start',
      ),
    )
}
