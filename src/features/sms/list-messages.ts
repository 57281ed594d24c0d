import type { Caller } from '../../auth/caller.ts'
import { given } from '../../db/lists/row.ts'
import type { ListQuery } from '../../db/lists/list.ts'
import type { Gateway } from '../../gateway.ts'
import { ITEM, type Message, messageItem } from './message.ts'
import type { MessagesQuery } from './schemas.ts'

export interface MessagePage {
  messages: Message[]
  total: number
  page: number
  limit: number
}

/** Messages of the caller's tenant, newest first. Another tenant's id as a filter finds nothing. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<MessagePage> {
  const { page, limit, tenantId = caller.tenantId } = query
  if (tenantId !== caller.tenantId) return { messages: [], total: 0, page, limit }
  const { rows, total } = await gateway.database.lists.page(listQuery(caller, query))
  return { messages: ITEM.rowsOf(rows).map(messageItem), total, page, limit }
}

function listQuery(caller: Caller, query: MessagesQuery): ListQuery {
  const { appId, userId, direction, status, from, to, startDate, endDate, page, limit } = query
  return {
    list: 'messages',
    tenantId: caller.tenantId,
    equal: given({ app_id: appId, user_id: userId, direction, status, from_number: from, to_number: to }),
    prefix: null,
    since: startDate ?? 0,
    until: endDate ?? Number.MAX_SAFE_INTEGER,
    offset: (page - 1) * limit,
    limit,
    columns: ITEM.columns,
  }
}
