import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import type { ListQuery } from '../../db/lists/list.ts'
import { apps } from '../../db/schema/tenants.ts'
import { triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import { ATTEMPT_ITEM } from './attempt.ts'

interface Destinations {
  appId?: string | undefined
  triggerId?: string | undefined
}

/**
 * Checks that destinations belong to the tenant. A deleted trigger belongs to it if the tenant's log has attempts of the trigger.
 * Errors: `forbidden`.
 */
export async function requireOwnDestinations(
  gateway: Gateway,
  caller: Caller,
  { appId, triggerId }: Destinations,
): Promise<void> {
  const { reads } = gateway.database
  if (appId !== undefined) {
    const rows = await reads
      .select({ id: apps.id })
      .from(apps)
      .where(and(eq(apps.tenantId, caller.tenantId), eq(apps.id, appId)))
    if (rows.length === 0) throw apiError('forbidden')
  }
  if (triggerId !== undefined) {
    const own = await reads
      .select({ id: triggers.id })
      .from(triggers)
      .where(and(eq(triggers.tenantId, caller.tenantId), eq(triggers.id, triggerId)))
    const logged = await gateway.database.lists.page({
      ...allDeliveries(caller),
      equal: { kind: 'trigger', target_id: triggerId },
    })
    if (own.length + logged.total === 0) throw apiError('forbidden')
  }
}

export const allDeliveries = (caller: Caller): ListQuery => ({
  list: 'deliveries',
  tenantId: caller.tenantId,
  equal: {},
  prefix: null,
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
  offset: 0,
  limit: 0,
  item: ATTEMPT_ITEM,
})
