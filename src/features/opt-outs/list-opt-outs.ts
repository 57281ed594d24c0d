import { type SQL, and, count, desc, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { optOuts } from '../../db/schema/opt-outs.ts'
import type { Gateway } from '../../gateway.ts'
import type { OptOutList, OptOutsQuery } from './schemas.ts'

/** Returns the contacts that have opted out of the tenant's numbers, latest first. */
export async function listOptOuts(gateway: Gateway, caller: Caller, query: OptOutsQuery): Promise<OptOutList> {
  const where = conditions(caller, query)
  const { page, limit } = query
  const { reads } = gateway.database
  const [counted] = await reads.select({ total: count() }).from(optOuts).where(where)
  const rows = await reads
    .select()
    .from(optOuts)
    .where(where)
    .orderBy(desc(optOuts.since), desc(optOuts.seq))
    .limit(limit)
    .offset((page - 1) * limit)
  return {
    optOuts: rows.map(({ number, contact, source, since }) => ({ number, contact, source, since: isoTime(since) })),
    total: counted?.total ?? 0,
    page,
    limit,
  }
}

function conditions(caller: Caller, { number, contact }: OptOutsQuery): SQL | undefined {
  return and(
    eq(optOuts.tenantId, caller.tenantId),
    eq(optOuts.optedOut, true),
    number === undefined ? undefined : eq(optOuts.number, number),
    contact === undefined ? undefined : eq(optOuts.contact, contact),
  )
}
