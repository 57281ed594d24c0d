import type { Caller } from '../../core/caller.ts'
import { type ListPage, type ListQuery, NO_ITEMS, presentFilters } from '../../db/lists/list.ts'
import type { DeliveryKind } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../gateway.ts'
import { allDeliveries, requireOwnDestinations } from './own-destinations.ts'
import type { DeliveriesQuery } from './schemas.ts'

/** Attempts of the caller's tenant, newest first. Errors: `forbidden` for an app or trigger that is not the tenant's. */
export async function listDeliveries(gateway: Gateway, caller: Caller, query: DeliveriesQuery): Promise<ListPage> {
  await requireOwnDestinations(gateway, caller, query)
  if (requestedKinds(query).size > 1) return NO_ITEMS
  return gateway.database.lists.page(listQuery(caller, query))
}

function listQuery(caller: Caller, query: DeliveriesQuery): ListQuery {
  const { appId, triggerId, messageId, outcome, startDate, endDate, page, limit } = query
  const [kind] = requestedKinds(query)
  return {
    ...allDeliveries(caller),
    equal: presentFilters({ kind, target_id: appId ?? triggerId, outcome }),
    // A delivery id begins with the id of its message.
    prefix: messageId === undefined ? null : { column: 'delivery_id', value: `${messageId}:` },
    ...(startDate === undefined ? {} : { since: startDate }),
    ...(endDate === undefined ? {} : { until: endDate }),
    offset: (page - 1) * limit,
    limit,
  }
}

/** The kinds that the filters ask for. A destination has one kind, so filters for two kinds find nothing. */
function requestedKinds({ appId, triggerId, kind }: DeliveriesQuery): Set<DeliveryKind> {
  const wanted = [
    kind,
    appId === undefined ? undefined : 'app',
    triggerId === undefined ? undefined : 'trigger',
  ] as const
  return new Set(wanted.filter((one) => one !== undefined))
}
