import type { Clock } from '../../core/clock.ts'
import { type Log, silentLog } from '../../core/log.ts'
import type { Gate } from '../gate.ts'
import { LRUCache } from 'lru-cache'
import { Compactor } from './compactor.ts'
import { withTimes } from './item-times.ts'
import { LISTS, type ListPage, type ListQuery, conditionOf, moreThanQuery, rangeOf } from './list.ts'
import { ListReader } from './reader.ts'

/** Pages of the long lists, with exact totals. */
export interface Lists {
  page(query: ListQuery): Promise<ListPage>
  /** Call for each write: there may be something to compact. */
  noteWrite(): void
  /** Call for a database of an earlier release, which has no segments yet. */
  catchUp(): void
  close(): Promise<void>
}

/** The main thread reads lists of up to this many rows, in under a millisecond; the reader thread reads longer ones. */
const SHORT_LIST_ROWS = 512
/** How long a list is assumed to stay that long without a check. A wrong guess only costs time. */
const ASSUME_LONG_MS = 60_000

/** A database in memory has no path and no reader thread: everything is read through the gate. */
export function openLists(gate: Gate, path: string | null, log: Log = silentLog, clock?: Clock): Lists {
  if (path === null)
    return { page: (query) => pageHere(gate, query), noteWrite: () => {}, catchUp: () => {}, close: async () => {} }
  const longLists = new LRUCache<string, true>({ max: 1000, ttl: ASSUME_LONG_MS })
  const reader = new ListReader(path, () => compactor.wake())
  const compactor = new Compactor(gate, reader, log, clock)
  return {
    page: async (query) => ((await checkIsShort(gate, query, longLists)) ? pageHere(gate, query) : reader.page(query)),
    noteWrite: () => compactor.noteWrite(),
    catchUp: () => compactor.wake(),
    close: async () => {
      await Promise.all([reader.close(), compactor.stop()])
    },
  }
}

/** `longLists` holds the lists that were long at their last check. */
async function checkIsShort(gate: Gate, query: ListQuery, longLists: LRUCache<string, true>): Promise<boolean> {
  if (query.prefix !== null) return true
  const isUnbounded = query.since === 0 && query.until === Number.MAX_SAFE_INTEGER
  const key = `${query.list} ${query.tenantId}`
  if (isUnbounded && longLists.has(key)) return false
  const isLong = (await gate.values(moreThanQuery(query, rangeOf(query), SHORT_LIST_ROWS))).length > 0
  if (isUnbounded && isLong) longLists.set(key, true)
  return !isLong
}

/** Reads total and page in one statement, so that both come from one snapshot. */
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
