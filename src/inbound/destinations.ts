import { bitOf } from '../db/webhook-events.ts'
import { DELIVERY_KINDS, type DeliveryKind } from '../db/schema/webhooks.ts'

/** The apps and the triggers that an inbound message is delivered to: SQL conditions on a row of their tables. */
const WANTED: Readonly<Record<DeliveryKind, string>> = {
  // Null means sms_inbound alone.
  app: `is_active = 1 AND webhook_url IS NOT NULL AND (webhook_events IS NULL OR webhook_events & ${bitOf('sms_inbound')})`,
  trigger: 'true',
}

const jobsOf = (kind: DeliveryKind): string => `
  SELECT messages.job_id, 'webhook', destination.id, messages.tenant_id, messages.id || ':' || destination.id, 0, messages.created_at
  FROM input
  CROSS JOIN messages ON messages.id = input.messageId AND messages.job_id = input.jobId AND messages.tenant_id = input.tenantId
  CROSS JOIN tenants ON tenants.id = input.tenantId AND tenants.status = 'active'
  CROSS JOIN ${kind}s AS destination ON destination.tenant_id = tenants.id AND ${WANTED[kind]}`

/**
 * Creates due jobs for the apps and triggers of an active tenant that want the message. If the message existed already, its row
 * has another job id, so there are none. Returns the lane of each job.
 */
export const INSERT_WEBHOOK_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  ${DELIVERY_KINDS.map(jobsOf).join(' UNION ALL ')} RETURNING id AS key, 'job' AS type, lane`
