import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { eventMask, subscribedEvents } from '../../db/webhook-events.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { WebhookEvent } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { changeApp, requireOwnApp } from './own-app.ts'
import type { WebhookEvents } from './schemas.ts'

/** Which events the webhook address of the caller's app gets. Errors: `appNotFound`. */
export async function readWebhookEvents({ database }: Gateway, caller: Caller, appId: string): Promise<WebhookEvents> {
  requireOwnApp(caller, appId)
  const [app] = await database.orm
    .select({ mask: apps.webhookEvents })
    .from(apps)
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
  if (app === undefined) throw apiError('appNotFound')
  return { events: subscribedEvents(app.mask) }
}

/** Applies to events from now on. Errors: `appNotFound`. */
export async function setWebhookEvents(
  gateway: Gateway,
  caller: Caller,
  appId: string,
  events: readonly WebhookEvent[],
): Promise<{ ok: true }> {
  requireOwnApp(caller, appId)
  await changeApp(gateway, caller, { webhookEvents: eventMask(events) })
  await gateway.webhookWaker.refresh()
  return { ok: true }
}
