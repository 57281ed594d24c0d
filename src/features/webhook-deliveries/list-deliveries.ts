import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../auth/caller.ts'
import { apiError } from '../../core/errors.ts'
import { type ListPage, type ListQuery, NO_ITEMS, given } from '../../db/lists/list.ts'
import { apps } from '../../db/schema/tenants.ts'
import { type DeliveryKind, triggers } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import { ATTEMPT_ITEM } from './attempt.ts'
import type { DeliveriesQuery } from './schemas.ts'

/** Attempts of the caller's tenant, newest first. Errors: `forbidden` for an app or trigger that is not the tenant's. */
export async function listDeliveries(gateway: Gateway, caller: Caller, query: DeliveriesQuery): Promise<ListPage> {
  await demandOwnTargets(gateway, caller, query)
  if (kindsOf(query).size > 1) return NO_ITEMS
  return gateway.database.lists.page(listQuery(caller, query))
}

/** A trigger that was removed keeps its log: having attempts of the tenant is proof enough. */
async function demandOwnTargets(
  gateway: Gateway,
  caller: Caller,
  { appId, triggerId }: DeliveriesQuery,
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
      ...everything(caller),
      equal: { kind: 'trigger', target_id: triggerId },
    })
    if (own.length + logged.total === 0) throw apiError('forbidden')
  }
}

function listQuery(caller: Caller, query: DeliveriesQuery): ListQuery {
  const { appId, triggerId, messageId, outcome, startDate, endDate, page, limit } = query
  const [kind] = kindsOf(query)
  return {
    ...everything(caller),
    equal: given({ kind, target_id: appId ?? triggerId, outcome }),
    // The key of a delivery begins with its message's id.
    prefix: messageId === undefined ? null : { column: 'delivery_id', value: `${messageId}:` },
    ...(startDate === undefined ? {} : { since: startDate }),
    ...(endDate === undefined ? {} : { until: endDate }),
    offset: (page - 1) * limit,
    limit,
  }
}

const everything = (caller: Caller): ListQuery => ({
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

/** Each target is of one kind: filters that want two find nothing. */
function kindsOf({ appId, triggerId, kind }: DeliveriesQuery): Set<DeliveryKind> {
  const wanted = [
    kind,
    appId === undefined ? undefined : 'app',
    triggerId === undefined ? undefined : 'trigger',
  ] as const
  return new Set(wanted.filter((one) => one !== undefined))
}
