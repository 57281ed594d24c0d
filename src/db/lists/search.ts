import { LRUCache } from 'lru-cache'
import { withTimes } from './item-times.ts'
import {
  type Cell,
  LISTS,
  type ListName,
  type ListPage,
  type ListQuery,
  type Range,
  conditionOf,
  moreThanQuery,
  rangeOf,
} from './list.ts'
import { type Bounds, type Filter, match, matchedRows } from './match.ts'
import { RowStates } from './row-states.ts'
import { isSegment, rangesOf } from './ranges.ts'
import type { ReadConnection } from './read-connection.ts'
import { NULL_CODE, type Segment } from './segment.ts'
import type { SegmentStore } from './store.ts'

/** The rows of one segment or one gap that a query finds, newest first. */
interface Part {
  count: number
  seqs(offset: number, limit: number): number[]
}

/** The rows of a segment that pass the filters of a query. */
interface Found {
  count: number
  /** Null if there are many: a page then matches them again. */
  rows: readonly number[] | null
}

/** Results are kept for this many combinations of filters. */
const MAX_KEPT_FILTERS = 64
/** At most this many rows are kept per result: with five million rows, all results together take some 15 MB. */
const FEW_FOUND = 16

/** Finds total and page of a query on one snapshot: in segments where there are any, in the table elsewhere. */
export class Search {
  readonly states: RowStates
  /** Filters → segment → result. Paging and polling repeat the same filters, and segments do not change. */
  readonly #kept = new LRUCache<string, WeakMap<Segment, Found>>({ max: MAX_KEPT_FILTERS })

  constructor(
    readonly connection: ReadConnection,
    readonly store: SegmentStore,
  ) {
    this.states = new RowStates(connection, store)
  }

  page(query: ListQuery): ListPage {
    return this.connection.snapshot(() => {
      const parts = this.#parts(query)
      const total = parts.reduce((sum, part) => sum + part.count, 0)
      return { total, items: this.#items(query, seqsOf(parts, query.offset, query.limit)) }
    })
  }

  /** Whether one of the gaps between the segments has more than `enough` rows. */
  hasGap(query: ListQuery, enough: number): boolean {
    const segments = this.store.lastSegments(query.list, query.tenantId)
    return rangesOf(segments, rangeOf(query)).some((range) => {
      if (isSegment(range)) return false
      const { sql, args } = moreThanQuery(query, range, enough)
      return this.connection.value(sql, args) !== null
    })
  }

  #parts(query: ListQuery): Part[] {
    const range = rangeOf(query)
    const kept = this.#keptFor(query)
    const segments = this.store.segments(query.list, query.tenantId)
    return rangesOf(segments, range).map((part) =>
      isSegment(part) ? this.#segmentPart(part, query, range, kept) : this.#tablePart(part, query),
    )
  }

  #keptFor({ list, tenantId, equal }: ListQuery): WeakMap<Segment, Found> {
    const key = `${list} ${tenantId} ${JSON.stringify(equal)}`
    const kept = this.#kept.get(key) ?? new WeakMap<Segment, Found>()
    this.#kept.set(key, kept)
    return kept
  }

  #tablePart(range: Range, query: ListQuery): Part {
    const { sql, args } = conditionOf(query, range)
    const { name, at } = LISTS[query.list]
    const page = `SELECT seq FROM ${name} WHERE ${sql} ORDER BY ${at} DESC, seq DESC LIMIT ? OFFSET ?`
    return {
      count: Number(this.connection.value(`SELECT count(*) FROM ${name} WHERE ${sql}`, args)),
      seqs: (offset, limit) =>
        numbersIn(this.connection.value(`SELECT group_concat(seq) FROM (${page})`, [...args, limit, offset])),
    }
  }

  #segmentPart(segment: Segment, query: ListQuery, range: Range, kept: WeakMap<Segment, Found>): Part {
    const isInside = range.after <= segment.after && range.until >= segment.until
    const bounds = isInside ? { low: 0, high: segment.rows } : this.#boundsIn(segment, range)
    const found = (isInside ? kept.get(segment) : undefined) ?? this.#find(segment, query, bounds)
    if (isInside && segment.openRows === 0) kept.set(segment, found)
    return { count: found.count, seqs: (offset, limit) => this.#seqs(segment, query, bounds, found, offset, limit) }
  }

  #find(segment: Segment, query: ListQuery, bounds: Bounds): Found {
    const filters = this.#filtersFor(segment, query)
    if (filters === null) return { count: 0, rows: [] }
    if (filters.length === 0) return { count: bounds.high - bounds.low, rows: null }
    const count = segment.openRows > 0 ? this.#matchOpen(segment, query.list, filters, bounds) : match(filters, bounds)
    return { count, rows: count > FEW_FOUND ? null : matchedRows(0, count) }
  }

  /** The filter of the state comes last, so that only the rows that pass the others are read from the table. */
  #matchOpen(segment: Segment, list: ListName, filters: readonly Filter[], bounds: Bounds): number {
    const { codes } = this.store.column(segment, LISTS[list].state)
    const others = filters.filter((filter) => filter.codes !== codes)
    if (others.length < filters.length) this.states.refresh(list, segment, matchedRows(0, match(others, bounds)))
    return match(filters, bounds)
  }

  /** Counts `offset` from the newest row. The states are up to date since `find`. */
  #seqs(
    segment: Segment,
    query: ListQuery,
    bounds: Bounds,
    { count, rows }: Found,
    offset: number,
    limit: number,
  ): number[] {
    const end = count - offset
    const start = Math.max(0, end - limit)
    if (rows === null) match(this.#filtersFor(segment, query) ?? [], bounds)
    const seqs = this.store.seqs(segment)
    return (rows?.slice(start, end) ?? matchedRows(start, end)).map((row) => seqs[row] ?? 0).toReversed()
  }

  /** The filters of a query as codes of this segment; null when no row can pass them. */
  #filtersFor(segment: Segment, { list, equal }: ListQuery): Filter[] | null {
    const { state, showsNullState } = LISTS[list]
    const filters: (Filter & { values: number })[] = []
    for (const [name, value] of Object.entries(equal)) {
      const { codes, dictionary } = this.store.column(segment, name)
      const code = dictionary.codeOf(value)
      if (code === -1) return null
      filters.push({ codes, code, isNot: false, values: dictionary.size })
    }
    if (!showsNullState && segment.openRows > 0 && equal[state] === undefined)
      filters.push({ codes: this.store.column(segment, state).codes, code: NULL_CODE, isNot: true, values: 0 })
    // The column with the most values comes first: it leaves the fewest rows to the others.
    return filters.toSorted((a, b) => b.values - a.values)
  }

  #boundsIn(segment: Segment, { after, until }: Range): Bounds {
    const times = this.store.times(segment)
    return { low: rowsUpTo(times, after), high: rowsUpTo(times, until) }
  }

  /** Reads the items in the order of `seqs`, which CROSS JOIN keeps, and as one text, because the driver is slow at returning rows. */
  #items({ list, item }: ListQuery, seqs: readonly number[]): string {
    const sql = `SELECT group_concat(${item}) FROM json_each(?) AS row CROSS JOIN ${list} ON ${list}.seq = row.value`
    return withTimes(String(this.connection.value(sql, [JSON.stringify(seqs)]) ?? ''))
  }
}

/** How many of the ascending times are not after `time`. */
function rowsUpTo(times: Float64Array, time: number): number {
  let low = 0
  for (let high = times.length; low < high;) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}

function seqsOf(parts: readonly Part[], offset: number, limit: number): number[] {
  const seqs: number[] = []
  let skip = offset
  for (const part of parts) {
    if (seqs.length >= limit) break
    if (skip < part.count) seqs.push(...part.seqs(skip, limit - seqs.length))
    skip = Math.max(0, skip - part.count)
  }
  return seqs
}

/** Reads numbers from a comma-separated text, because the driver is slow at returning rows. */
const numbersIn = (text: Cell): number[] => JSON.parse(`[${text ?? ''}]`) as number[]
