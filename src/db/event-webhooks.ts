import { WEBHOOK_EVENTS, type WebhookEvent } from './schema/webhooks.ts'
import type { Statement } from './writer.ts'

const bitOf = (event: WebhookEvent): number => 1 << WEBHOOK_EVENTS.indexOf(event)

/** The value of `apps.webhook_events`. */
export const eventMask = (events: readonly WebhookEvent[]): number =>
  events.reduce((mask, event) => mask | bitOf(event), 0)

export const eventsOf = (mask: number | null): WebhookEvent[] =>
  WEBHOOK_EVENTS.filter((event) => ((mask ?? bitOf('sms_inbound')) & bitOf(event)) !== 0)

/** An event that apps may have asked for, beside `sms_inbound` and `sms_status`, whose commits make their jobs themselves. */
export interface WebhookEventInput {
  event: Exclude<WebhookEvent, 'sms_inbound' | 'sms_status'>
  tenantId: string
  /** The message that it is about: its job id becomes that of the deliveries. */
  messageId: string
  /** The one app that hears the event. Null: all apps of the tenant do. */
  appId: string | null
  /** The WebSocket event, which is what is posted. */
  payload: object
  now: number
}

/**
 * Statements for the commit of an event: a `webhook` job for each app that asked for it. While no app has, they cost an index
 * lookup. The hub's event wakes the jobs.
 */
export function eventWebhooks(input: WebhookEventInput): Statement[] {
  const { event, tenantId, messageId, appId, payload, now } = input
  return [
    {
      sql: `INSERT INTO webhook_payloads (message_id, event, payload, created_at) SELECT ?1, ?2, ?3, ?4
        WHERE EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) ON CONFLICT DO NOTHING`,
      args: [messageId, event, JSON.stringify(payload), now],
    },
    {
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
        SELECT messages.job_id, 'webhook', apps.id, apps.tenant_id, messages.id || ':' || apps.id || ':' || ?3, 0, ?4
        FROM messages CROSS JOIN apps ON apps.tenant_id = messages.tenant_id
        WHERE EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) AND messages.id = ?1 AND messages.tenant_id = ?2
          AND (?5 IS NULL OR apps.id = ?5)
          AND apps.webhook_events & ?6 AND apps.is_active = 1 AND apps.webhook_url IS NOT NULL`,
      args: [messageId, tenantId, event, now, appId, bitOf(event)],
    },
  ]
}
