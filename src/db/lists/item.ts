import { type Column, getTableName } from 'drizzle-orm'
import { TIME_DELIMITER } from './item-times.ts'

/** The SQL for each member of a shape. */
export type Members<Shape> = { readonly [Name in keyof Shape]-?: (name: string) => Member }

/** SQL for a member's value; or, if the member may be absent, for its name and value with a leading comma. */
interface Member {
  sql: string
  hasName: boolean
}

/**
 * SQL for an item of a list as the API shows it: JSON with the members in this order. The first member must always be present.
 * SQLite makes the JSON, because reading the values through the driver takes longer than finding the rows.
 */
export function itemOf(members: Members<Record<string, unknown>>): string {
  const parts = Object.entries(members).flatMap(([name, member], index) => {
    const { sql, hasName } = member(name)
    return hasName ? [sql] : [`'${index === 0 ? '{' : ','}"${name}":'`, sql]
  })
  return `concat(${parts.join(', ')}, '}')`
}

const value = (sql: string): Member => ({ sql, hasName: false })

/** Qualified with its table, because pages are read with joins. */
const nameOf = (column: Column): string => `${getTableName(column.table)}.${column.name}`

/** A member with the value of a column, a text or a number. */
export const field = (column: Column) => (): Member => value(`json_quote(${nameOf(column)})`)

export const fieldOr = (column: Column, instead: number) => (): Member =>
  value(`json_quote(coalesce(${nameOf(column)}, ${instead}))`)

/** Absent when it is null. */
export const optionalField = (column: Column) => fieldIf(column, `${nameOf(column)} IS NOT NULL`)

/** Absent unless another column has this value. */
export const fieldWhere = (column: Column, other: Column, equals: string) =>
  fieldIf(column, `${nameOf(other)} = '${equals}'`)

const fieldIf =
  (column: Column, condition: string) =>
  (name: string): Member => ({
    sql: `iif(${condition}, ',"${name}":' || json_quote(${nameOf(column)}), '')`,
    hasName: true,
  })

/** A column of epoch milliseconds, which `withTimes` formats. The CAST ensures that only digits stand between the delimiters. */
export const timeField = (column: Column) => (): Member =>
  value(`'${TIME_DELIMITER}', CAST(${nameOf(column)} AS INTEGER), '${TIME_DELIMITER}'`)
