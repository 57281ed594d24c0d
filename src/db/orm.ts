import { type AsyncRemoteCallback, type SqliteRemoteDatabase, drizzle } from 'drizzle-orm/sqlite-proxy'
import type { Argument, Result } from './connection.ts'
import type { Gate } from './gate.ts'
import * as schema from './schema/index.ts'
import type { Writer } from './writer.ts'

/**
 * Drizzle for ordinary statements. A select runs through the gate; an insert, update or delete is a unit of the writer's next commit.
 * `batch` commits its statements as one atomic unit. A statement runs when it is awaited.
 */
export type Orm = SqliteRemoteDatabase<typeof schema>

export function ormOf(gate: Pick<Gate, 'values'>, writer: Pick<Writer, 'write'>): Orm {
  const runOne: AsyncRemoteCallback = async (sql, params, method) => {
    const statement = checked(sql, params)
    if (/^select /i.test(sql)) return answer(method, await gate.values(statement))
    const [result] = await writer.write([statement])
    return answer(method, valuesOf(result))
  }
  const runBatch = async (queries: readonly { sql: string; params: unknown[]; method: Method }[]) => {
    const results = await writer.write(queries.map(({ sql, params }) => checked(sql, params)))
    return queries.map(({ method }, index) => answer(method, valuesOf(results[index])))
  }
  return drizzle(runOne, runBatch, { schema })
}

type Method = Parameters<AsyncRemoteCallback>[2]

/** Refuses everything else, for example `begin`: an interactive transaction would block every other caller. */
function checked(sql: string, params: unknown[]): { sql: string; args: Argument[] } {
  if (!/^\s*(select|insert into|update|delete from)\s/i.test(sql))
    throw new Error('Only select, insert, update and delete are run, alone or in a batch')
  // Drizzle has encoded the values for SQLite. The connection refuses any other type.
  return { sql, args: params as Argument[] }
}

/** RETURNING names each column once, so the values of a row are in the order of its columns. */
const valuesOf = (result: Result | undefined): unknown[][] => (result?.rows ?? []).map((row) => Object.values(row))

/** `get` wants one row; the others want all. */
const answer = (method: Method, rows: unknown[][]): { rows: unknown[] } => ({
  rows: method === 'get' ? (rows[0] as unknown[]) : rows,
})
