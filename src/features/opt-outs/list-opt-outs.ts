import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import type { Row } from '../../db/connection.ts'
import type { OptOutSource } from '../../db/schema/opt-outs.ts'
import type { Gateway } from '../../gateway.ts'
import type { OptOut, OptOutList, OptOutsQuery } from './schemas.ts'

/** Rows that are read in one tick of the event loop: about a millisecond. */
const ROWS_PER_SLICE = 2000

/** A position in the order of the list: latest first. */
interface Position {
  since: number
  seq: number
}

const START: Position = { since: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER }
const END: Position = { since: -1, seq: -1 }

/** Returns the contacts that have opted out of the tenant's numbers, latest first. Other work runs between the slices of a long list. */
export async function listOptOuts(gateway: Gateway, { tenantId }: Caller, query: OptOutsQuery): Promise<OptOutList> {
  const { number = null, contact = null, page, limit } = query
  const { gate } = gateway.database
  const isShort = await isShortList(gateway, tenantId, query)
  const source = sourceOf(query, isShort)
  const rows: Row[] = []
  let total = 0
  for (let from = START; from !== END;) {
    // The first slice waits as well: of many requests at once, one is read in a tick of the event loop.
    if (!isShort) await gateway.turns.next(tenantId)
    const to = isShort ? END : await endOfSlice(gateway, source, [tenantId, number, contact, from.since, from.seq])
    const args = [tenantId, number, contact, from.since, from.seq, to.since, to.seq]
    const [counted] = (await gate.execute({ sql: `SELECT count(*) AS count ${source} ${SLICE}`, args })).rows
    const count = Number(counted?.['count'] ?? 0)
    const offset = Math.max((page - 1) * limit - total, 0)
    const left = limit - rows.length
    if (left > 0 && offset < count)
      rows.push(...(await gate.execute({ sql: pageSql(source), args: [...args, left, offset] })).rows)
    total += count
    from = to
  }
  return { optOuts: rows.map(optOutOf), total, page, limit }
}

/** Whether the filter is a contact that has opted out of few numbers, as nearly all have. */
async function isShortList({ database }: Gateway, tenantId: string, query: OptOutsQuery): Promise<boolean> {
  const { number, contact } = query
  if (contact === undefined || number !== undefined) return contact !== undefined
  const sql = `SELECT 1 FROM opt_outs WHERE tenant_id = ?1 AND contact = ?2 LIMIT ${ROWS_PER_SLICE + 1}`
  return (await database.gate.execute({ sql, args: [tenantId, contact] })).rows.length <= ROWS_PER_SLICE
}

/** The index that has the rows of the list in their order, or the few rows of the contact. */
function sourceOf({ number, contact }: OptOutsQuery, isShort: boolean): string {
  const index = isShort ? 'opt_outs_by_contact' : number === undefined ? 'opt_outs_by_tenant' : 'opt_outs_by_number'
  const filters = [number === undefined ? '' : 'AND number = ?2', contact === undefined ? '' : 'AND contact = ?3']
  return `FROM opt_outs INDEXED BY ${index} WHERE tenant_id = ?1 AND opted_out = 1 ${filters.join(' ')} AND (since, seq) < (?4, ?5)`
}

async function endOfSlice({ database }: Gateway, source: string, args: (string | number | null)[]): Promise<Position> {
  const sql = `SELECT since, seq ${source} ORDER BY since DESC, seq DESC LIMIT 1 OFFSET ${ROWS_PER_SLICE - 1}`
  const [last] = (await database.gate.execute({ sql, args })).rows
  return last === undefined ? END : { since: Number(last['since']), seq: Number(last['seq']) }
}

const SLICE = 'AND (since, seq) >= (?6, ?7)'

/** Rows before the page are skipped in the index. */
const pageSql = (
  source: string,
): string => `SELECT number, contact, source, since FROM opt_outs WHERE +tenant_id = ?1 AND seq IN
  (SELECT seq ${source} ${SLICE} ORDER BY since DESC, seq DESC LIMIT ?8 OFFSET ?9) ORDER BY since DESC, seq DESC`

const optOutOf = ({ number, contact, source, since }: Row): OptOut => ({
  number: String(number),
  contact: String(contact),
  source: source as OptOutSource,
  since: isoTime(Number(since)),
})
