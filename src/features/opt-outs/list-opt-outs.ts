import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { OptOutSource } from '../../db/schema/opt-outs.ts'
import type { Gateway } from '../../gateway.ts'
import type { OptOut, OptOutList, OptOutsQuery } from './schemas.ts'

/** Returns the contacts that have opted out of the tenant's numbers, latest first. */
export async function listOptOuts(
  gateway: Gateway,
  { tenantId }: Caller,
  { number, contact, page, limit }: OptOutsQuery,
): Promise<OptOutList> {
  const { rows } = await gateway.database.gate.execute({
    sql: pageSql(number !== undefined, contact !== undefined),
    args: [tenantId, number ?? null, contact ?? null, limit, (page - 1) * limit],
  })
  const optOuts = rows.filter((row) => row['contact'] !== null).map(optOutOf)
  return { optOuts, total: Number(rows[0]?.['total'] ?? 0), page, limit }
}

/**
 * One statement reads total and page, so that both are of one snapshot. Earlier pages are skipped in an index. The one row of
 * `(SELECT ?2, ?3)` carries the total of an empty page, and binds the filters that are not set.
 */
function pageSql(hasNumber: boolean, hasContact: boolean): string {
  const filters = `${hasNumber ? 'AND number = ?2' : ''} ${hasContact ? 'AND contact = ?3' : ''}`
  // The unary plus keeps SQLite from reading all opt-outs in their order.
  const since = hasContact ? '+since' : 'since'
  return `SELECT (SELECT count(*) FROM opt_outs WHERE tenant_id = ?1 AND opted_out = 1 ${filters}) AS total,
      listed.number, listed.contact, listed.source, listed.since
    FROM (SELECT ?2, ?3) LEFT JOIN opt_outs AS listed ON +listed.tenant_id = ?1 AND listed.seq IN
      (SELECT seq FROM opt_outs WHERE tenant_id = ?1 AND opted_out = 1 ${filters}
        ORDER BY ${since} DESC, seq DESC LIMIT ?4 OFFSET ?5)
    ORDER BY listed.since DESC, listed.seq DESC`
}

const optOutOf = (row: Row): OptOut => ({
  number: String(row['number']),
  contact: String(row['contact']),
  source: row['source'] as OptOutSource,
  since: isoTime(Number(row['since'])),
})
