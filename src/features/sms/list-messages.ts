import type { Caller } from '../../core/caller.ts'
import { type ListPage, type ListQuery, NO_ITEMS, presentFilters } from '../../db/lists/list.ts'
import type { Gateway } from '../../gateway.ts'
import { MESSAGE_ITEM } from './message.ts'
import { withDelivery } from './with-delivery.ts'
import type { MessagesQuery } from './schemas.ts'

/** Messages of the caller's tenant, newest first. Another tenant's id as a filter finds nothing. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<ListPage> {
  if ((query.tenantId ?? caller.tenantId) !== caller.tenantId) return NO_ITEMS
  const page = await gateway.database.lists.page(listQuery(caller, query))
  return query.include === 'delivery' ? withDelivery(gateway, caller, page) : page
}

function listQuery(caller: Caller, query: MessagesQuery): ListQuery {
  const { appId, userId, direction, status, from, to, startDate, endDate, page, limit } = query
  return {
    list: 'messages',
    tenantId: caller.tenantId,
    equal: presentFilters({ app_id: appId, user_id: userId, direction, status, from_number: from, to_number: to }),
    prefix: null,
    since: startDate ?? 0,
    until: endDate ?? Number.MAX_SAFE_INTEGER,
    offset: (page - 1) * limit,
    limit,
    item: MESSAGE_ITEM,
  }
}
