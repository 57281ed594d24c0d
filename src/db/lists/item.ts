import { type Column, getTableName } from 'drizzle-orm'
import { MARK } from './item-times.ts'

/** The SQL for each member of a shape. */
export type Members<Shape> = { readonly [Name in keyof Shape]-?: (name: string) => Member }

/** SQL for a member's value, or for the whole member with a leading comma where it may be absent. */
interface Member {
  sql: string
  isWhole: boolean
}

/**
 * SQL for an item of a list as the API shows it: JSON with the members in this order. The first member must not be one that
 * may be absent. SQLite makes the JSON because reading the values from the driver takes longer than finding the rows.
 */
export function itemOf(members: Members<Record<string, unknown>>): string {
  const parts = Object.entries(members).flatMap(([name, member], place) => {
    const { sql, isWhole } = member(name)
    return isWhole ? [sql] : [`'${place === 0 ? '{' : ','}"${name}":'`, sql]
  })
  return `concat(${parts.join(', ')}, '}')`
}

const value = (sql: string): Member => ({ sql, isWhole: false })

/** With its table, because pages are read by joins. */
const nameOf = (column: Column): string => `${getTableName(column.table)}.${column.name}`

/** A text or a number. */
export const shown = (column: Column) => (): Member => value(`json_quote(${nameOf(column)})`)

export const shownOr = (column: Column, instead: number) => (): Member =>
  value(`json_quote(coalesce(${nameOf(column)}, ${instead}))`)

/** Absent when it is null. */
export const shownIfAny = (column: Column) => shownIf(column, `${nameOf(column)} IS NOT NULL`)

/** Absent unless another column has this value. */
export const shownWhere = (column: Column, other: Column, equals: string) =>
  shownIf(column, `${nameOf(other)} = '${equals}'`)

const shownIf =
  (column: Column, condition: string) =>
  (name: string): Member => ({
    sql: `iif(${condition}, ',"${name}":' || json_quote(${nameOf(column)}), '')`,
    isWhole: true,
  })

/** Epoch milliseconds, which `withTimes` formats. The CAST makes sure that only digits stand between the marks. */
export const shownTime = (column: Column) => (): Member =>
  value(`'${MARK}', CAST(${nameOf(column)} AS INTEGER), '${MARK}'`)
