import type { Gate } from '../gate.ts'
import { LISTS, type ListPage, type ListQuery, type ListRow, conditionOf, stretchOf } from './list.ts'
import { Reader } from './reader.ts'
import { Sealer } from './sealer.ts'

/** Pages of the long lists, with their exact total. */
export interface Lists {
  page(query: ListQuery): Promise<ListPage>
  /** Rows were written: there may be something to seal. */
  noteWrite(): void
  /** The database is of an earlier release: much is to be sealed. */
  catchUp(): void
  close(): Promise<void>
}

/** Up to so many rows are counted here and now, in under a millisecond; more are the reader's. */
const FEW_ROWS = 512

/** Without a path, as in memory, there is no reader: everything is read through the gate. */
export function openLists(gate: Gate, path: string | null): Lists {
  if (path === null)
    return { page: (query) => pageHere(gate, query), noteWrite: () => {}, catchUp: () => {}, close: async () => {} }
  const reader = new Reader(path, () => sealer.wake())
  const sealer = new Sealer(gate, reader)
  return {
    page: async (query) => ((await isFew(gate, query)) ? pageHere(gate, query) : reader.page(query)),
    noteWrite: () => sealer.noteWrite(),
    catchUp: () => sealer.wake(),
    close: async () => {
      await Promise.all([reader.close(), sealer.stop()])
    },
  }
}

/** Counts index entries alone, and no more of them than matter. */
async function isFew(gate: Gate, query: ListQuery): Promise<boolean> {
  if (query.prefix !== null) return true
  const { name, indexed } = LISTS[query.list]
  const value = indexed === null ? undefined : query.equal[indexed]
  const equal: Record<string, string> = indexed === null || value === undefined ? {} : { [indexed]: value }
  const { sql, args } = conditionOf({ ...query, equal }, stretchOf(query), false)
  const { rows } = await gate.execute({
    sql: `SELECT count(*) AS found FROM (SELECT 1 FROM ${name} WHERE ${sql} LIMIT ${FEW_ROWS + 1})`,
    args,
  })
  return Number(rows[0]?.['found']) <= FEW_ROWS
}

/** Total and page in one statement, and so of one moment. */
async function pageHere(gate: Gate, query: ListQuery): Promise<ListPage> {
  const { name, at } = LISTS[query.list]
  const { sql, args } = conditionOf(query)
  const { rows } = await gate.execute({
    sql: `WITH hits AS MATERIALIZED (SELECT seq, ${at} FROM ${name} WHERE ${sql}),
        places AS (SELECT seq FROM hits ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?)
      SELECT counted.total AS list_total, page.* FROM (SELECT count(*) AS total FROM hits) AS counted
        LEFT JOIN ${name} AS page ON page.seq IN (SELECT seq FROM places) ORDER BY page.${at} DESC, page.seq DESC`,
    args: [...args, query.limit, query.offset],
  })
  const [first] = rows
  return {
    total: Number(first?.['list_total'] ?? 0),
    rows: first?.['seq'] === null ? [] : (rows as unknown as ListRow[]),
  }
}
