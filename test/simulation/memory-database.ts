import type { InArgs, InStatement, InValue, ResultSet, Row } from '@libsql/client'
import type { Gate } from '../../src/db/gate.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'

/** The part of the native binding under @libsql/client that is used here. */
interface Native {
  prepare(sql: string): NativeStatement
  inTransaction: boolean
}

interface NativeStatement {
  raw(on: boolean): this
  columns(): { name: string }[]
  all(args: InArgs): InValue[][]
  run(args: InArgs): { changes: number }
}

interface Prepared {
  statement: NativeStatement
  /** Null when it returns no rows. */
  columns: string[] | null
}

/**
 * The real engine with our schema, in memory. @libsql/client compiles each statement anew, which is nine tenths of what
 * a seed costs; here each is compiled once. `simulation.test.ts` shows that nothing else differs.
 */
export async function openMemoryDatabase(): Promise<Gate> {
  const path = Bun.resolveSync('libsql', Bun.resolveSync('@libsql/client', import.meta.dir))
  const { default: Database } = (await import(path)) as { default: new (path: string) => Native }
  const native = new Database(':memory:')
  const gate = gateOf(native)
  await gate.execute('PRAGMA foreign_keys = ON')
  await migrate(gate, MIGRATIONS)
  return gate
}

function gateOf(native: Native): Gate {
  const known = new Map<string, Prepared>()
  const run = (statement: InStatement): ResultSet => {
    const { sql, args = [] } = typeof statement === 'string' ? { sql: statement } : statement
    const prepared = known.get(sql) ?? prepare(native, sql)
    // One that fails is never reset by the binding, so it is not kept.
    known.delete(sql)
    const result = resultOf(prepared, args)
    known.set(sql, prepared)
    return result
  }
  const batch = (statements: readonly InStatement[]): ResultSet[] => {
    run('BEGIN IMMEDIATE')
    try {
      const results = statements.map((statement) => run(statement))
      run('COMMIT')
      return results
    } catch (error) {
      if (native.inTransaction) run('ROLLBACK')
      throw error
    }
  }
  return {
    execute: async (statement) => run(statement),
    batch: async (statements) => batch(statements),
    get client(): never {
      throw new Error('Drizzle reads through the simulated gate')
    },
    close: () => Promise.resolve(),
  }
}

function prepare(native: Native, sql: string): Prepared {
  const statement = native.prepare(sql)
  try {
    statement.raw(true)
    return { statement, columns: statement.columns().map((column) => column.name) }
  } catch {
    // The binding's way to say that there are no rows.
    return { statement, columns: null }
  }
}

function resultOf({ statement, columns }: Prepared, args: InArgs): ResultSet {
  if (columns === null) {
    const { changes } = statement.run(args)
    return {
      columns: [],
      columnTypes: [],
      rows: [],
      rowsAffected: changes,
      lastInsertRowid: undefined,
      toJSON: () => null,
    }
  }
  const rows = statement.all(args).map((values) => rowOf(columns, values))
  return { columns, columnTypes: [], rows, rowsAffected: 0, lastInsertRowid: undefined, toJSON: () => null }
}

/** By place and by name, as the client's rows are. */
function rowOf(columns: readonly string[], values: InValue[]): Row {
  const row = values as unknown as Record<string, InValue>
  for (const [index, column] of columns.entries()) row[column] = values[index] ?? null
  return row as unknown as Row
}
