import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { eventMask, eventsOf } from '../../db/webhook-events.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { WebhookEvent } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import { changeApp, demandOwn } from './own-app.ts'
import type { WebhookEvents } from './schemas.ts'

/** Which events the webhook address of the caller's app gets. Errors: `appNotFound`. */
export async function readWebhookEvents({ database }: Gateway, caller: Caller, appId: string): Promise<WebhookEvents> {
  demandOwn(caller, appId)
  const [app] = await database.reads
    .select({ mask: apps.webhookEvents })
    .from(apps)
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
  if (app === undefined) throw apiError('appNotFound')
  return { events: eventsOf(app.mask) }
}

/** Counts for events from now on. Errors: `appNotFound`. */
export async function setWebhookEvents(
  gateway: Gateway,
  caller: Caller,
  appId: string,
  events: readonly WebhookEvent[],
): Promise<{ ok: true }> {
  demandOwn(caller, appId)
  await changeApp(gateway, {
    sql: `UPDATE apps SET webhook_events = ?3, updated_at = ?4 WHERE tenant_id = ?1 AND id = ?2 AND is_active = 1 RETURNING id`,
    args: [caller.tenantId, appId, eventMask(events), gateway.clock.now()],
  })
  await gateway.eventWebhooks.read()
  return { ok: true }
}
