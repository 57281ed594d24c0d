import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'

/** The `fan_out` job: an inbound message becomes one `webhook` job for each app and trigger that wants it. */
export const fanOutJobs = (gateway: Gateway): JobKind<string> => ({
  name: 'fan_out',
  maxInFlight: 16,
  maxPerLane: 4,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => fanOut(gateway, job),
})

/**
 * In one commit with the end of the fan-out itself, so that it happens once. A tenant that is not active gets none.
 * A delivery's id is `<messageId>:<appId or triggerId>`, and its lane is its destination.
 */
async function fanOut(gateway: Gateway, job: Job): Promise<JobOutcome> {
  const now = Math.ceil(gateway.clock.steady())
  const [inserted] = await gateway.database.writer.write([
    {
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
        SELECT ?3, 'webhook', target.id, ?1, ?2 || ':' || target.id, ?4, ?5
        FROM (
          SELECT id FROM apps WHERE tenant_id = ?1 AND is_active = 1 AND webhook_url IS NOT NULL
          UNION ALL SELECT id FROM triggers WHERE tenant_id = ?1) AS target
        WHERE EXISTS (SELECT 1 FROM tenants WHERE id = ?1 AND status = 'active')
          AND EXISTS (SELECT 1 FROM jobs WHERE seq = ?6)
        RETURNING lane`,
      args: [job.tenantId, job.subject, job.id, now, gateway.clock.now(), job.seq],
    },
    { sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] },
  ])
  for (const row of inserted?.rows ?? []) gateway.jobs.added('webhook', String(row['lane']), job.tenantId)
  return DONE
}
