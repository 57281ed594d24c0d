import type { Caller } from '../../core/caller.ts'
import { EMPTY_PAGE, type Page, readPage } from '../../db/list-page.ts'
import type { DestinationKind } from '../../db/schema/webhooks.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { NEVER_ARRIVED, earliestAt } from '../../messages/webhooks/never-arrived.ts'
import { type DeliveryAttempt, attemptOf } from './attempt.ts'
import { requireOwnDestinations } from './own-destinations.ts'
import type { DeliveriesQuery } from './schemas.ts'

/**
 * Attempts of the caller's tenant, newest first. Leaves out those past their retention by this machine's clock, even while they cannot be
 * deleted because the clock is not trusted. Errors: `forbidden` for an app or trigger that is not the tenant's.
 */
export async function listDeliveries(
  gateway: Gateway,
  caller: Caller,
  query: DeliveriesQuery,
): Promise<Page<DeliveryAttempt>> {
  await requireOwnDestinations(gateway, caller, query)
  const [kind, ...others] = requestedKinds(query)
  if (others.length > 0) return EMPTY_PAGE
  const { total, items } = await readPage(gateway.database.reader, caller.tenantId, {
    table: 'webhook_attempts',
    at: 'attempted_at',
    // Attempts in progress are left out.
    ...(query.state === undefined
      ? { always: 'outcome IS NOT NULL' }
      : { always: NEVER_ARRIVED, by: 'INDEXED BY webhook_attempts_unresolved' }),
    filters: {
      // A delivery id begins with the id of its message.
      [`seq IN (SELECT seq FROM webhook_attempts WHERE delivery_id > ? || ':' AND delivery_id < ? || ';')`]:
        query.messageId,
      'attempted_at >= ?': Math.max(query.startDate ?? 0, earliestAt(gateway.clock)),
      'attempted_at <= ?': query.endDate,
      'kind = ?': kind,
      'target_id = ?': query.appId ?? query.triggerId,
      'outcome = ?': query.outcome,
    },
    page: query.page,
    limit: query.limit,
  })
  return { total, items: items.map(attemptOf) }
}

/** The kinds that the filters ask for. A destination has one kind, so filters for two kinds find nothing. */
function requestedKinds({ appId, triggerId, kind }: DeliveriesQuery): Set<DestinationKind> {
  const wanted = [
    kind,
    appId === undefined ? undefined : 'app',
    triggerId === undefined ? undefined : 'trigger',
  ] as const
  return new Set(wanted.filter((one) => one !== undefined))
}
