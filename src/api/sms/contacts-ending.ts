import { apiError } from '../../core/errors.ts'
import { MAX_CONTACTS_FOUND } from '../../core/limits.ts'
import type { ListPage } from '../../db/list-page.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { conversationsRead, endsWith } from '../../messages/upkeep/follow-conversations.ts'

/** The condition of messages with one of some contacts; `?` is a list in JSON. No index is by contact, so it is tested in the index of all messages. */
const OF_CONTACTS = `iif(direction = 'outbound', to_number, from_number) IN (SELECT value FROM json_each(?))`

/** A list with only the messages with contacts that end with `digits`; null if there is no such contact. Errors: `tooManyContacts`. */
export async function withContactsEnding(
  gateway: Gateway,
  tenantId: string,
  list: ListPage,
  digits: string | undefined,
): Promise<ListPage | null> {
  if (digits === undefined) return list
  const contacts = await contactsEnding(gateway, tenantId, digits)
  if (contacts.length === 0) return null
  return { ...list, isShort: true, filters: { ...list.filters, [OF_CONTACTS]: JSON.stringify(contacts) } }
}

/** The contacts of the tenant's conversations that end with `digits`. Reading them all takes about 10 ms for 100,000 conversations. */
async function contactsEnding(gateway: Gateway, tenantId: string, digits: string): Promise<string[]> {
  const { table, before } = await conversationsRead(gateway)
  const sql = `WITH ${before} found AS (SELECT DISTINCT contact FROM ${table}
      WHERE tenant_id = ?1 AND ${endsWith('contact', '?2')} LIMIT ${MAX_CONTACTS_FOUND + 1})
    SELECT contact FROM found`
  const rows = await gateway.database.reader.longRead(tenantId, sql, [tenantId, digits])
  if (rows.length > MAX_CONTACTS_FOUND) throw apiError('tooManyContacts')
  return rows.map((row) => String(row['contact']))
}
