import type { Caller } from '../../core/caller.ts'
import { EMPTY_PAGE, type ListPage, type Page, readPage } from '../../db/list-page.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type Message, messageOf } from './message.ts'
import { inState } from './message-states.ts'
import { withDelivery } from './with-delivery.ts'
import type { MessagesQuery } from './schemas.ts'

/** Messages of the caller's tenant, newest first. Another tenant's id as a filter finds nothing. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<Page<Message>> {
  if ((query.tenantId ?? caller.tenantId) !== caller.tenantId) return EMPTY_PAGE
  const list = inState(listOf(query), query.state, gateway.clock.now())
  const { total, items: rows } = await readPage(gateway.database.reader, caller.tenantId, list)
  return {
    total,
    items: query.include === 'delivery' ? await withDelivery(gateway, caller, rows) : rows.map(messageOf),
  }
}

const listOf = (query: MessagesQuery): ListPage => ({
  table: 'messages',
  at: 'created_at',
  filters: {
    'created_at >= ?': query.startDate,
    'created_at <= ?': query.endDate,
    'app_id = ?': query.appId,
    'direction = ?': query.direction,
    'status = ?': query.status,
    'from_number = ?': query.from,
    'to_number = ?': query.to,
    'user_id = ?': query.userId,
    [`iif(direction = 'outbound', from_number, to_number) = ?`]: query.number,
    [`iif(direction = 'outbound', to_number, from_number) = ?`]: query.contact,
  },
  page: query.page,
  limit: query.limit,
})
