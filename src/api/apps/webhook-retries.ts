import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { apps } from '../../db/schema/tenants.ts'
import type { RetryPolicy } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { changeApp, requireOwnApp } from './own-app.ts'

/** How failed deliveries to the caller's app are retried. Errors: `appNotFound`. */
export async function readWebhookRetries(
  { database }: Gateway,
  caller: Caller,
  appId: string,
): Promise<{ policy: RetryPolicy }> {
  requireOwnApp(caller, appId)
  const [app] = await database.orm
    .select({ policy: apps.webhookRetries })
    .from(apps)
    .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
  if (app === undefined) throw apiError('appNotFound')
  return { policy: app.policy ?? 'none' }
}

/** Applies to attempts that fail from now on. Waiting retries are dropped if the policy is `none`. Errors: `appNotFound`. */
export async function setWebhookRetries(
  gateway: Gateway,
  caller: Caller,
  appId: string,
  policy: RetryPolicy,
): Promise<{ ok: true }> {
  requireOwnApp(caller, appId)
  await changeApp(gateway, caller, { webhookRetries: policy })
  return { ok: true }
}
