import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import { readPage } from '../../db/list-page.ts'
import type { OptOutSource } from '../../db/schema/opt-outs.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { getPolicy } from './policy.ts'
import type { OptOut, OptOutList, OptOutsQuery } from './schemas.ts'

/** Keeps SQLite from reading all rows in their order. */
const OF_CONTACT = 'seq IN (SELECT own.seq FROM opt_outs AS own WHERE own.tenant_id = ?1 AND own.contact = ?)'

/** Returns the contacts that have opted out of the tenant's numbers, latest first. */
export async function listOptOuts(gateway: Gateway, caller: Caller, query: OptOutsQuery): Promise<OptOutList> {
  const { number, contact, include, page, limit } = query
  const { total, items } = await readPage(gateway.database.reader, caller.tenantId, {
    table: 'opt_outs',
    at: 'since',
    always: 'opted_out = 1',
    filters: { 'number = ?': number, [OF_CONTACT]: contact },
    page,
    limit,
  })
  const added = include === 'policy' ? await getPolicy(gateway, caller) : {}
  return { optOuts: items.map(optOutOf), ...added, total, page, limit }
}

const optOutOf = ({ number, contact, source, since }: Row): OptOut => ({
  number: String(number),
  contact: String(contact),
  source: source as OptOutSource,
  since: isoTime(Number(since)),
})
