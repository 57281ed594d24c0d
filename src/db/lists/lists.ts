import { type Log, silentLog } from '../../core/log.ts'
import type { Gate } from '../gate.ts'
import { LRUCache } from 'lru-cache'
import { withTimes } from './item-times.ts'
import { LISTS, type ListPage, type ListQuery, conditionOf, stretchOf } from './list.ts'
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
/** How long a tenant is taken to have more than that: the answer is the same in any case. */
const MANY_FOR_MS = 60_000

/** Without a path, as in memory, there is no reader: everything is read through the gate. */
export function openLists(gate: Gate, path: string | null, log: Log = silentLog): Lists {
  if (path === null)
    return { page: (query) => pageHere(gate, query), noteWrite: () => {}, catchUp: () => {}, close: async () => {} }
  const many = new LRUCache<string, true>({ max: 1000, ttl: MANY_FOR_MS })
  const reader = new Reader(path, () => sealer.wake())
  const sealer = new Sealer(gate, reader, log)
  return {
    page: async (query) => ((await isFew(gate, query, many)) ? pageHere(gate, query) : reader.page(query)),
    noteWrite: () => sealer.noteWrite(),
    catchUp: () => sealer.wake(),
    close: async () => {
      await Promise.all([reader.close(), sealer.stop()])
    },
  }
}

/** Counts index entries alone, and no more of them than matter. `many`: lists that had more a moment ago. */
async function isFew(gate: Gate, query: ListQuery, many: LRUCache<string, true>): Promise<boolean> {
  if (query.prefix !== null) return true
  const isWhole = query.since === 0 && query.until === Number.MAX_SAFE_INTEGER
  const key = `${query.list} ${query.tenantId}`
  if (isWhole && many.has(key)) return false
  const { sql, args } = conditionOf({ ...query, equal: {} }, stretchOf(query), false)
  const { rows } = await gate.execute({
    sql: `SELECT count(*) AS found FROM (SELECT 1 FROM ${query.list} WHERE ${sql} LIMIT ${FEW_ROWS + 1})`,
    args,
  })
  const found = Number(rows[0]?.['found'])
  if (isWhole && found > FEW_ROWS) many.set(key, true)
  return found <= FEW_ROWS
}

/** Total and page in one statement, and so of one moment. */
async function pageHere(gate: Gate, query: ListQuery): Promise<ListPage> {
  const { name, at } = LISTS[query.list]
  const { sql, args } = conditionOf(query)
  const values = await gate.values({
    sql: `WITH hits AS MATERIALIZED (SELECT seq, ${at} FROM ${name} WHERE ${sql}),
        places AS (SELECT seq FROM hits ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?)
      SELECT counted.total, iif(${name}.seq IS NULL, NULL, ${query.item})
        FROM (SELECT count(*) AS total FROM hits) AS counted
        LEFT JOIN ${name} ON ${name}.seq IN (SELECT seq FROM places) ORDER BY ${name}.${at} DESC, ${name}.seq DESC`,
    args: [...args, query.limit, query.offset],
  })
  const items = values.map(([, item]) => item).filter((item) => item !== null)
  return { total: Number(values[0]?.[0] ?? 0), items: withTimes(items.join()) }
}
