import { Glob } from 'bun'
import { type Table, getTableColumns, getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { readFileSync } from 'node:fs'
import * as schema from '../../src/db/schema/index.ts'

/** An SQL statement or a Drizzle query of the source. */
export interface Query {
  path: string
  /** The text on one line, with single spaces. */
  text: string
}

/** Maps the SQL name of each table with a `tenant_id` to the name of its Drizzle export. */
export function tenantTables(): Map<string, string> {
  const tables = Object.entries(schema).flatMap(([name, value]): [string, Table][] =>
    is(value, SQLiteTable) ? [[name, value]] : [],
  )
  return new Map(
    tables
      .filter(([, table]) => 'tenantId' in getTableColumns(table))
      .map(([name, table]) => [getTableName(table), name]),
  )
}

/** Returns every string in `src` that is an SQL statement. The simulator has no database. */
export function sqlStatements(): Query[] {
  return sources().flatMap(({ path, text }) =>
    stringsIn(text)
      .map((literal) => oneLine(literal))
      .filter((literal) => /^(SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE)\b/.test(literal))
      .map((literal) => ({ path, text: literal })),
  )
}

/** Returns every `.from(table)`, `.insert(table)` … of Drizzle, up to the end of its statement. */
export function drizzleQueries(): (Query & { table: string })[] {
  return sources().flatMap(({ path, text }) =>
    [...text.matchAll(/\.(?:from|insert|update|delete|innerJoin|leftJoin)\((\w+)[,)]/g)].map((match) => ({
      path,
      table: match[1] ?? '',
      text: oneLine(text.slice(match.index, endOfStatement(text, match.index))),
    })),
  )
}

/** Returns the tenant tables that a statement uses without binding them to a tenant. */
export function unboundTables(sql: string, tables: Iterable<string>): string[] {
  return [...tables].filter((table) => references(sql, table).some((alias) => !isBound(sql, alias)))
}

function sources(): Query[] {
  const paths = [...new Glob('src/**/*.ts').scanSync('.')].filter((path) => !path.startsWith('src/simulator/'))
  return paths.toSorted().map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Returns the alias or name of each use of the table. */
function references(sql: string, table: string): string[] {
  const uses = sql.matchAll(new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE)\\s+${table}\\b(?:\\s+AS\\s+(\\w+))?`, 'g'))
  return [...uses].map((use) => use[1] ?? table)
}

/**
 * Whether `tenant_id` is compared, or written by an INSERT. Without a prefix, the column belongs to the only table in
 * scope.
 */
function isBound(sql: string, alias: string): boolean {
  if (new RegExp(`INSERT INTO ${alias} \\([^)]*\\btenant_id\\b`).test(sql)) return true
  const column = `(?:\\b${alias}\\.|(?<![.\\w]))tenant_id\\b`
  return new RegExp(`${column} (?:=|IN \\()|= ${column}`).test(sql)
}

function endOfStatement(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')') depth--
    const next = text.slice(at + 1).match(/^\s*/)?.[0].length ?? 0
    if (depth < 0 || (depth === 0 && text[at] === ')' && text[at + 1 + next] !== '.')) return at + 1
  }
  return text.length
}

/** Returns the string literals of a source text. Template literals keep their `${…}`. */
function stringsIn(text: string): string[] {
  const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [...code.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  )
}
