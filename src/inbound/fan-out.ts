import type { DeliveryKind } from '../db/schema/webhooks.ts'
import type { Gateway } from '../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../jobs/job.ts'
import { WEBHOOK_JOB, joinDestinations, nextDestination } from './destinations.ts'

/**
 * The `fan_out` job: creates the `webhook` jobs of a message for a tenant with more destinations than fit into one commit.
 * Its lane is the kind of the destinations, its subject `<messageId>:<seq of the next destination>`. Each commit creates one
 * slice and advances the subject, so a crash neither repeats nor skips a destination.
 */
export const fanOutJobs = (gateway: Gateway): JobKind<string> => ({
  name: 'fan_out',
  maxInFlight: 1,
  maxPerLane: 1,
  load: (subjects) => Promise.resolve(new Map(subjects.map((subject) => [subject, subject]))),
  run: (job) => fanOut(gateway, job),
})

async function fanOut(gateway: Gateway, { seq, lane, tenantId, subject }: Job): Promise<JobOutcome> {
  const [messageId = '', from = ''] = subject.split(':')
  const kind: DeliveryKind = lane === 'app' ? 'app' : 'trigger'
  const next = nextDestination(kind, '?1', '?3')
  const [made, moved] = await gateway.database.writer.write([
    { sql: INSERT_SLICE[kind], args: [tenantId, messageId, Number(from)] },
    {
      sql: `UPDATE jobs SET subject = coalesce(?2 || ':' || ${next}, '') WHERE tenant_id = ?1 AND seq = ?4 RETURNING subject`,
      args: [tenantId, messageId, Number(from), seq],
    },
    { sql: "DELETE FROM jobs WHERE tenant_id = ?1 AND seq = ?2 AND subject = ''", args: [tenantId, seq] },
  ])
  for (const row of made?.rows ?? []) gateway.jobs.dueAfter('webhook', String(row['lane']), tenantId, 0)
  return moved?.rows[0]?.['subject'] === '' ? DONE : { type: 'snooze', delayMs: 0 }
}

const insertSlice = (
  kind: DeliveryKind,
): string => `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT messages.job_id, ${WEBHOOK_JOB}, 0, messages.created_at
    FROM messages
    CROSS JOIN tenants ON tenants.id = messages.tenant_id AND tenants.status = 'active'
    ${joinDestinations(kind, '?3')}
    WHERE messages.tenant_id = ?1 AND messages.id = ?2
    RETURNING lane`

const INSERT_SLICE: Readonly<Record<DeliveryKind, string>> = {
  app: insertSlice('app'),
  trigger: insertSlice('trigger'),
}
