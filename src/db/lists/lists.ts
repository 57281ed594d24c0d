import { type Log, silentLog } from '../../core/log.ts'
import type { Gate } from '../gate.ts'
import { LRUCache } from 'lru-cache'
import { Compactor } from './compactor.ts'
import { withTimes } from './item-times.ts'
import { LISTS, type ListPage, type ListQuery, conditionOf, hasMoreThan, rangeOf } from './list.ts'
import { Reader } from './reader.ts'

/** Pages of the long lists, with their exact total. */
export interface Lists {
  page(query: ListQuery): Promise<ListPage>
  /** Rows were written: there may be something to compact. */
  noteWrite(): void
  /** The database comes from an earlier release and has no segments yet. */
  catchUp(): void
  close(): Promise<void>
}

/** Lists of up to so many rows are read here, in under a millisecond; longer ones by the reader thread. */
const SHORT_LIST_ROWS = 512
/** How long a list is assumed to be longer than that. The answer is the same either way. */
const ASSUME_LONG_MS = 60_000

/** Without a path, as for a database in memory, there is no reader thread: everything is read through the gate. */
export function openLists(gate: Gate, path: string | null, log: Log = silentLog): Lists {
  if (path === null)
    return { page: (query) => pageHere(gate, query), noteWrite: () => {}, catchUp: () => {}, close: async () => {} }
  const longLists = new LRUCache<string, true>({ max: 1000, ttl: ASSUME_LONG_MS })
  const reader = new Reader(path, () => compactor.wake())
  const compactor = new Compactor(gate, reader, log)
  return {
    page: async (query) => ((await isShort(gate, query, longLists)) ? pageHere(gate, query) : reader.page(query)),
    noteWrite: () => compactor.noteWrite(),
    catchUp: () => compactor.wake(),
    close: async () => {
      await Promise.all([reader.close(), compactor.stop()])
    },
  }
}

/** `longLists` remembers the lists that were long a moment ago. */
async function isShort(gate: Gate, query: ListQuery, longLists: LRUCache<string, true>): Promise<boolean> {
  if (query.prefix !== null) return true
  const isUnbounded = query.since === 0 && query.until === Number.MAX_SAFE_INTEGER
  const key = `${query.list} ${query.tenantId}`
  if (isUnbounded && longLists.has(key)) return false
  const isLong = (await gate.values(hasMoreThan(query, rangeOf(query), SHORT_LIST_ROWS))).length > 0
  if (isUnbounded && isLong) longLists.set(key, true)
  return !isLong
}

/** Total and page in one statement, so that both are of one snapshot. */
async function pageHere(gate: Gate, query: ListQuery): Promise<ListPage> {
  const { name, at } = LISTS[query.list]
  const { sql, args } = conditionOf(query)
  const values = await gate.values({
    sql: `WITH hits AS MATERIALIZED (SELECT seq, ${at} FROM ${name} WHERE ${sql}),
        wanted AS (SELECT seq FROM hits ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?)
      SELECT counted.total, iif(${name}.seq IS NULL, NULL, ${query.item})
        FROM (SELECT count(*) AS total FROM hits) AS counted
        LEFT JOIN ${name} ON ${name}.seq IN (SELECT seq FROM wanted) ORDER BY ${name}.${at} DESC, ${name}.seq DESC`,
    args: [...args, query.limit, query.offset],
  })
  const items = values.map(([, item]) => item).filter((item) => item !== null)
  return { total: Number(values[0]?.[0] ?? 0), items: withTimes(items.join()) }
}
