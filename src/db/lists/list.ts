import type { MessageStatus } from '../schema/messages.ts'
import type { DeliveryOutcome } from '../schema/webhooks.ts'

// Shared by the reader thread and the main thread: the lists, and the query of a page.

export type ListName = 'messages' | 'deliveries'

export interface List {
  name: ListName
  /** The time by which the list is ordered; `seq` breaks ties. */
  at: string
  /** Columns that can be filtered by. */
  columns: readonly string[]
  /** The column of these that changes while a row is open. */
  state: string
  /** Every value of `state`. A row is open while its state is `open` or null. */
  states: Readonly<Record<string, 'open' | 'ended'>>
  /** Whether the list shows rows whose state is null. */
  showsNullState: boolean
}

export const LISTS: Readonly<Record<ListName, List>> = {
  messages: {
    name: 'messages',
    at: 'created_at',
    columns: ['app_id', 'user_id', 'direction', 'from_number', 'to_number', 'status'],
    state: 'status',
    states: {
      queued: 'open',
      sending: 'open',
      sent: 'ended',
      failed: 'ended',
      received: 'ended',
    } satisfies Record<MessageStatus, 'open' | 'ended'>,
    showsNullState: true,
  },
  deliveries: {
    name: 'deliveries',
    at: 'attempted_at',
    columns: ['kind', 'target_id', 'outcome'],
    state: 'outcome',
    states: {
      success: 'ended',
      http_error: 'ended',
      timeout: 'ended',
      network_error: 'ended',
    } satisfies Record<DeliveryOutcome, 'open' | 'ended'>,
    showsNullState: false,
  },
}

export const isOpen = ({ states }: List, state: string | null): boolean => state === null || states[state] === 'open'

export interface ListQuery {
  list: ListName
  tenantId: string
  /** Column → the value it must have. */
  equal: Readonly<Record<string, string>>
  /** A column and the start of its value. Such a query never uses segments. */
  prefix: { column: string; value: string } | null
  /** Epoch milliseconds, both inclusive. */
  since: number
  until: number
  offset: number
  limit: number
  /** SQL for one row of the page as JSON. */
  item: string
}

export type Cell = string | number | null

export interface ListPage {
  total: number
  /** JSON, without the brackets of an array. */
  items: string
}

export const NO_ITEMS: ListPage = { total: 0, items: '' }

/** The filters that are set. */
export const presentFilters = (filters: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** A range of time: after < time ≤ until. */
export interface Range {
  after: number
  until: number
}

/** SQL with its arguments. */
export interface BoundSql {
  sql: string
  args: Cell[]
}

/** The WHERE of a query, for the rows of a range. */
export function conditionOf(query: ListQuery, { after, until } = rangeOf(query)): BoundSql {
  const { at, state, showsNullState } = LISTS[query.list]
  const { equal, prefix } = query
  // A unary plus keeps SQLite from using the index of tenant and time where the prefix has a better one.
  const plus = prefix === null ? '' : '+'
  return {
    sql: [
      `${plus}tenant_id = ? AND ${plus}${at} > ? AND ${plus}${at} <= ?`,
      ...Object.keys(equal).map((column) => `${column} = ?`),
      ...(prefix === null ? [] : [`${prefix.column} >= ? AND ${prefix.column} < ? || char(0x10FFFF)`]),
      ...(showsNullState ? [] : [`${state} IS NOT NULL`]),
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

/** A query that returns a row if the range has more than `enough` rows, shown or not. Reads index entries only, and no more than needed. */
export function moreThanQuery(query: ListQuery, { after, until }: Range, enough: number): BoundSql {
  const { name, at } = LISTS[query.list]
  return {
    sql: `SELECT 1 FROM ${name} WHERE tenant_id = ? AND ${at} > ? AND ${at} <= ? LIMIT 1 OFFSET ?`,
    args: [query.tenantId, after, until, enough],
  }
}

export const rangeOf = ({ since, until }: Pick<ListQuery, 'since' | 'until'>): Range => ({ after: since - 1, until })
