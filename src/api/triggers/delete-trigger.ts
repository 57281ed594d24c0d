import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'

/** Deletes a trigger. Its rows in the delivery log stay. Errors: `triggerNotFound`. */
export async function deleteTrigger(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  triggerId: string,
): Promise<{ ok: true }> {
  const deleted = await gateway.database.orm
    .delete(triggers)
    .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
    .returning({ id: triggers.id })
  if (deleted.length === 0) throw apiError('triggerNotFound')
  return { ok: true }
}
