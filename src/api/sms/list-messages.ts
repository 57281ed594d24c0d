import type { Caller } from '../../core/caller.ts'
import { EMPTY_PAGE, type ListPage, type Page, filtersBy, readPage } from '../../db/list-page.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { withContactsEnding } from './contacts-ending.ts'
import { type Message, messageOf } from './message.ts'
import { failedBy, inState } from './message-states.ts'
import { withDelivery } from './with-delivery.ts'
import { CONDITIONS, type MessagesQuery } from './messages-query.ts'

/** Messages of the caller's tenant, newest first. Another tenant's id as a filter finds nothing. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<Page<Message>> {
  if ((query.tenantId ?? caller.tenantId) !== caller.tenantId) return EMPTY_PAGE
  const all = failedBy(inState(listOf(query), query.state, gateway.clock.now()), query.failure)
  const list = await withContactsEnding(gateway, caller.tenantId, all, query.contactEndsWith)
  if (list === null) return EMPTY_PAGE
  const { total, items: rows } = await readPage(gateway.database.reader, caller.tenantId, list)
  return {
    total,
    items: query.include === 'delivery' ? await withDelivery(gateway, caller, rows) : rows.map(messageOf),
  }
}

const listOf = (query: MessagesQuery): ListPage => ({
  table: 'messages',
  at: 'created_at',
  filters: filtersBy(CONDITIONS, query),
  page: query.page,
  limit: query.limit,
})
