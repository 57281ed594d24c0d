import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { type RetryPolicy, triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** How failed deliveries to a trigger of the tenant are retried. Errors: `triggerNotFound`. */
export async function readWebhookRetries(
  { database }: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  triggerId: string,
): Promise<{ policy: RetryPolicy }> {
  const [trigger] = await database.orm
    .select({ policy: triggers.webhookRetries })
    .from(triggers)
    .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
  if (trigger === undefined) throw apiError('triggerNotFound')
  return { policy: trigger.policy ?? 'none' }
}

/** Applies to attempts that fail from now on. Waiting retries are dropped if the policy is `none`. Errors: `triggerNotFound`. */
export async function setWebhookRetries(
  { database }: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  triggerId: string,
  policy: RetryPolicy,
): Promise<{ ok: true }> {
  const changed = await database.orm
    .update(triggers)
    .set({ webhookRetries: policy })
    .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
    .returning({ id: triggers.id })
  if (changed.length === 0) throw apiError('triggerNotFound')
  return { ok: true }
}
