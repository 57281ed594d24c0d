import type { Row } from './connection.ts'
import type { Reader } from './reader.ts'

/** A page of a tenant's rows, newest first. Among equal times, the row inserted last comes first. */
export interface ListPage {
  table: 'messages' | 'webhook_attempts' | 'opt_outs'
  /** The column of the time that the rows are ordered by. */
  at: 'created_at' | 'attempted_at' | 'since'
  /** An SQL condition that all rows of the list meet. */
  always?: string
  /** How SQLite finds the rows, where it would choose an index that is slower. */
  by?: `INDEXED BY ${string}` | 'NOT INDEXED'
  /** Whether it has so few rows that copying them is faster than finding them twice. */
  isShort?: boolean
  /** An SQL condition → its value, which stands for each `?` in it. `?1` is the tenant in every condition. Without a value the condition is left out. */
  filters: Readonly<Record<string, string | number | undefined>>
  /** From 1. */
  page: number
  limit: number
}

export interface Page<Item> {
  total: number
  items: Item[]
}

/** What a filter of a list is in SQL. */
export interface FilterSql {
  /** What a row must meet, where `?` is the value; null if the list is narrowed in another way. */
  where: string | null
  /** How SQLite finds the rows, where it would choose an index that is slower. */
  by?: NonNullable<ListPage['by']>
}

/** The part of a list that its filters make: those that have a condition, and how SQLite finds the rows of one that is given. */
export function filteredBy<Name extends string>(
  filters: Readonly<Record<Name, FilterSql>>,
  query: { readonly [Each in NoInfer<Name>]?: string | number | undefined },
): Pick<ListPage, 'filters' | 'by'> {
  const each = Object.entries<FilterSql>(filters).map(([name, sql]) => ({ ...sql, value: query[name as Name] }))
  const conditions = each.flatMap(({ where, value }) => (where === null ? [] : [[where, value] as const]))
  const by = each.find((given) => given.by !== undefined && given.value !== undefined)?.by
  return { filters: Object.fromEntries(conditions), ...(by === undefined ? {} : { by }) }
}

export const EMPTY_PAGE: Page<never> = { total: 0, items: [] }

/** Reads total and page in one statement, so that both are of one snapshot. */
export async function readPage(reader: Reader, tenantId: string, query: ListPage): Promise<Page<Row>> {
  const { table, at, always = 'TRUE', by = '', isShort = false, page, limit } = query
  const filters = Object.entries(query.filters).filter(([, value]) => value !== undefined)
  const conditions = filters.map(([condition], index) => ` AND ${condition.replaceAll(/\?(?!\d)/g, `?${index + 4}`)}`)
  // Copying the hits of a long list would take longer than finding them twice.
  const sql = `WITH hits AS ${isShort ? '' : 'NOT'} MATERIALIZED (SELECT seq, ${at} AS at FROM ${table} ${by} WHERE tenant_id = ?1 AND ${always}${conditions.join('')}),
      page AS (SELECT seq FROM hits ORDER BY at DESC, seq DESC LIMIT ?2 OFFSET ?3)
    SELECT counted.total, listed.* FROM (SELECT count(*) AS total FROM hits) AS counted
      LEFT JOIN ${table} AS listed ON listed.seq IN (SELECT seq FROM page)
    ORDER BY listed.${at} DESC, listed.seq DESC`
  const rows = await reader.longRead(tenantId, sql, [
    tenantId,
    limit,
    (page - 1) * limit,
    ...filters.map(([, value]) => value ?? null),
  ])
  // An empty page is one row that has only the total.
  return { total: Number(rows[0]?.['total'] ?? 0), items: rows.filter((row) => row['seq'] !== null) }
}
