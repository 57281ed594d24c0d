import type { Caller } from '../../core/caller.ts'
import { EMPTY_PAGE, type Page, readPage } from '../../db/list-page.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { listBy } from './list-by.ts'
import { type Message, messageOf } from './message.ts'
import type { MessagesQuery } from './messages-query.ts'
import { withDelivery } from './with-delivery.ts'

/** Messages of the caller's tenant, newest first. */
export async function listMessages(gateway: Gateway, caller: Caller, query: MessagesQuery): Promise<Page<Message>> {
  const list = await listBy(gateway, caller, query)
  if (list === null) return EMPTY_PAGE
  const { total, items: rows } = await readPage(gateway.database.reader, caller.tenantId, list)
  return {
    total,
    items: query.include === 'delivery' ? await withDelivery(gateway, caller, rows) : rows.map(messageOf),
  }
}
