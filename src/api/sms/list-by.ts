import type { Caller } from '../../core/caller.ts'
import { type ListPage, filteredBy } from '../../db/list-page.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { withContactsEnding } from './contacts-ending.ts'
import { failedBy, inState } from './message-states.ts'
import { FILTERS, type MessagesQuery } from './messages-query.ts'

/**
 * The messages of the caller's tenant that match a query; null if there cannot be any: another tenant's id as a filter finds nothing. Errors:
 * `tooManyContacts`.
 */
export async function listBy(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<ListPage | null> {
  if ((query.tenantId ?? caller.tenantId) !== caller.tenantId) return null
  const { state, failure, contactEndsWith, page, limit } = query
  const all = { table: 'messages', at: 'created_at', ...filteredBy(FILTERS, query), page, limit } as const
  const list = failedBy(inState(all, state, gateway.clock.now()), failure)
  return withContactsEnding(gateway, caller.tenantId, list, contactEndsWith)
}
