import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'

/** Deletes a trigger. Its rows in the delivery log stay. Errors: `triggerNotFound`. */
export async function deleteTrigger(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  triggerId: string,
): Promise<{ ok: true }> {
  const [deleted] = await gateway.database.writer.write([
    { sql: 'DELETE FROM triggers WHERE tenant_id = ?1 AND id = ?2 RETURNING id', args: [caller.tenantId, triggerId] },
  ])
  if (deleted?.rows.length === 0) throw apiError('triggerNotFound')
  return { ok: true }
}
