/** What the reader thread and the main thread agree on: the lists, and a question to one of them. */

export type ListName = 'messages' | 'deliveries'

export interface List {
  name: ListName
  /** Column of the time that lists are ordered by; `seq` breaks ties. */
  at: string
  /** Columns that can be filtered by, in the order in which blocks keep them. */
  columns: readonly string[]
  /** The one column that changes while a row is open, and its values as long as it is. */
  state: string
  open: readonly (string | null)[]
  /** A row is shown only when this column is not null. */
  shown: string | null
}

export const LISTS: Readonly<Record<ListName, List>> = {
  messages: {
    name: 'messages',
    at: 'created_at',
    columns: ['app_id', 'user_id', 'direction', 'from_number', 'to_number', 'status'],
    state: 'status',
    open: ['queued', 'sending'],
    shown: null,
  },
  deliveries: {
    name: 'deliveries',
    at: 'attempted_at',
    columns: ['kind', 'target_id', 'outcome'],
    state: 'outcome',
    open: [null],
    shown: 'outcome',
  },
}

export interface ListQuery {
  list: ListName
  tenantId: string
  /** Column → the value it must have. */
  equal: Readonly<Record<string, string>>
  /** Column and how its value begins; blocks know nothing of it. */
  prefix: { column: string; value: string } | null
  /** Epoch milliseconds, both inclusive. */
  since: number
  until: number
  offset: number
  limit: number
  /** SQL for a row of its page as JSON. */
  item: string
}

export type Cell = string | number | null

export interface ListPage {
  total: number
  /** JSON, without the brackets of an array. */
  items: string
}

export const NO_ITEMS: ListPage = { total: 0, items: '' }

/** Filters that were given. */
export const given = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** A stretch of time: after < time ≤ until. */
export interface Stretch {
  after: number
  until: number
}

export interface Condition {
  sql: string
  args: Cell[]
}

/** The WHERE of a query, for the rows of a stretch. */
export function conditionOf(query: ListQuery, { after, until } = stretchOf(query), onlyShown = true): Condition {
  const { at, shown } = LISTS[query.list]
  const { equal, prefix } = query
  // The plus keeps SQLite from the indexes of tenant and time where a better one leads to the rows.
  const plus = prefix === null ? '' : '+'
  return {
    sql: [
      `${plus}tenant_id = ? AND ${plus}${at} > ? AND ${plus}${at} <= ?`,
      ...Object.keys(equal).map((column) => `${column} = ?`),
      ...(prefix === null ? [] : [`${prefix.column} >= ? AND ${prefix.column} < ? || char(0x10FFFF)`]),
      ...(onlyShown && shown !== null ? [`${shown} IS NOT NULL`] : []),
    ].join(' AND '),
    args: [
      query.tenantId,
      after,
      until,
      ...Object.values(equal),
      ...(prefix === null ? [] : [prefix.value, prefix.value]),
    ],
  }
}

export const stretchOf = ({ since, until }: Pick<ListQuery, 'since' | 'until'>): Stretch => ({
  after: since - 1,
  until,
})
