import { bitOf } from '../../db/webhook-events.ts'
import { DESTINATION_KINDS, type DestinationKind } from '../../db/schema/webhooks.ts'

/** Which apps and triggers an inbound message is delivered to: SQL conditions on a row of their tables. */
const IS_DESTINATION: Readonly<Record<DestinationKind, string>> = {
  // Null means sms_inbound alone.
  app: `is_active = 1 AND webhook_url IS NOT NULL AND (webhook_events IS NULL OR webhook_events & ${bitOf('sms_inbound')})`,
  trigger: 'true',
}

const jobsFor = (kind: DestinationKind): string => `
  SELECT messages.job_id, 'webhook', destination.id, messages.tenant_id, messages.id || ':' || destination.id, 0, messages.created_at
  FROM input
  CROSS JOIN messages ON messages.id = input.messageId AND messages.job_id = input.jobId AND messages.tenant_id = input.tenantId
  CROSS JOIN tenants ON tenants.id = input.tenantId AND tenants.status = 'active'
  CROSS JOIN ${kind}s AS destination ON destination.tenant_id = tenants.id AND ${IS_DESTINATION[kind]}`

/**
 * Inserts a due job for each of these destinations, if the tenant is active. If the message existed already, its row
 * has another job id, so there are none. Returns the lane of each job.
 */
export const INSERT_WEBHOOK_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  ${DESTINATION_KINDS.map(jobsFor).join(' UNION ALL ')} RETURNING id AS key, 'job' AS type, lane`
