import type { Argument, Result, Row } from './connection.ts'
import { type Gate, isStorageFault } from './gate.ts'

/**
 * Group commit. Units that wait at the same moment are committed together, with one fsync; each caller's promise
 * settles after that commit. If a commit fails for one of its units, they run one by one, so that only the bad one fails.
 */
export interface Writer {
  /** One atomic unit of single statements; one result each. */
  write(statements: readonly Statement[]): Promise<Result[]>
  /** One row of a set operation; answers what its RETURNING clauses gave for this row's key. */
  row<Value extends JsonRow>(operation: RowOperation<Value>, value: Value): Promise<Row[]>
  /** Settles when everything handed in so far is committed or has failed. */
  drained(): Promise<void>
}

export interface Statement {
  sql: string
  args: Argument[]
}

/**
 * Many rows, one statement a table: each statement reads the rows of this commit from the table `given`, whose columns
 * are those named here. A RETURNING clause must name the row's key `key`.
 */
export interface RowOperation<Value extends JsonRow> {
  columns: readonly (keyof Value & string)[]
  key: keyof Value & string
  statements: readonly string[]
}

export type JsonRow = Readonly<Record<string, string | number | null>>

interface Unit {
  operation: RowOperation<never> | null
  statements: readonly Statement[]
  value: JsonRow | null
  resolve(result: never): void
  reject(error: unknown): void
}

const MAX_UNITS_PER_COMMIT = 512
const MAX_TURNS = 4

/** `defer` lets everything that this turn of the event loop brings join the commit. */
export function createWriter(gate: Gate, defer: (flush: () => void) => void = setImmediate): Writer {
  const waiting: Unit[] = []
  let flushing: Promise<void> | null = null

  const add = (unit: Unit): void => {
    waiting.push(unit)
    flushing ??= new Promise<void>((resolve) => defer(() => void flush().finally(resolve)))
  }
  const nextTurn = (): Promise<void> => new Promise((resolve) => defer(resolve))
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await untilNoMoreCome(waiting, nextTurn)
      const units = waiting.splice(0, MAX_UNITS_PER_COMMIT)
      await commit(gate, units)
      if (waiting.length > 0) await nextTurn()
    }
    flushing = null
  }
  return {
    write: (statements) =>
      new Promise<Result[]>((resolve, reject) => add({ operation: null, statements, value: null, resolve, reject })),
    row: (operation, value) =>
      new Promise<Row[]>((resolve, reject) => add({ operation, statements: [], value, resolve, reject })),
    drained: async () => {
      while (flushing !== null) await flushing
    },
  }
}

/** Under load, whoever comes within the next turns joins: a turn is short beside a flush. One alone waits for nobody. */
async function untilNoMoreCome(waiting: readonly Unit[], nextTurn: () => Promise<void>): Promise<void> {
  for (let turn = 0, seen = 1; turn < MAX_TURNS && waiting.length > seen; turn++) {
    seen = waiting.length
    await nextTurn()
  }
}

async function commit(gate: Gate, units: readonly Unit[]): Promise<void> {
  try {
    const plan = planOf(units)
    const results = await gate.batch(plan.statements)
    plan.settle(results)
  } catch (error) {
    if (units.length > 1 && !isStorageFault(error)) for (const unit of units) await commit(gate, [unit])
    else for (const unit of units) unit.reject(error)
  }
}

interface Plan {
  statements: Statement[]
  settle(results: readonly Result[]): void
}

function planOf(units: readonly Unit[]): Plan {
  const statements: Statement[] = []
  const settlers: ((results: readonly Result[]) => void)[] = []
  for (const [operation, group] of grouped(units)) {
    const first = statements.length
    if (operation === null) {
      for (const unit of group) settlers.push(planSingle(unit, statements))
    } else {
      statements.push(...rowStatements(operation, group))
      const end = statements.length
      settlers.push((results) => settleRows(operation.key, group, results.slice(first, end)))
    }
  }
  return { statements, settle: (results) => settlers.forEach((settler) => settler(results)) }
}

/** Groups units by operation, in the order in which the operations first came. */
function grouped(units: readonly Unit[]): Map<RowOperation<never> | null, Unit[]> {
  const groups = new Map<RowOperation<never> | null, Unit[]>()
  for (const unit of units) {
    const group = groups.get(unit.operation)
    if (group === undefined) groups.set(unit.operation, [unit])
    else group.push(unit)
  }
  return groups
}

function planSingle(unit: Unit, statements: Statement[]): (results: readonly Result[]) => void {
  const first = statements.length
  statements.push(...unit.statements)
  return (results) => unit.resolve(results.slice(first, first + unit.statements.length) as never)
}

/** Statements are compiled for these numbers of rows; any other number is made up of them. */
const ROWS_AT_ONCE = [64, 32, 16, 8, 4, 2, 1] as const

function rowStatements(operation: RowOperation<never>, group: readonly Unit[]): Statement[] {
  const statements: Statement[] = []
  for (let first = 0; first < group.length;) {
    const count = ROWS_AT_ONCE.find((size) => size <= group.length - first) ?? 1
    const rows = group.slice(first, first + count)
    for (const { sql, columns } of statementsFor(operation, count))
      statements.push({ sql, args: argsOf(rows, columns) })
    first += count
  }
  return statements
}

function argsOf(rows: readonly Unit[], columns: readonly string[]): Argument[] {
  const args: Argument[] = []
  for (const { value } of rows) for (const column of columns) args.push(value?.[column] ?? null)
  return args
}

interface RowStatement {
  sql: string
  columns: readonly string[]
}

const made = new WeakMap<RowOperation<never>, Map<number, readonly RowStatement[]>>()

/** The statements with `given` in front of them, for that many rows. */
function statementsFor(operation: RowOperation<never>, count: number): readonly RowStatement[] {
  const known = made.get(operation) ?? new Map<number, readonly RowStatement[]>()
  made.set(operation, known)
  const statements = known.get(count) ?? operation.statements.map((sql) => withGiven(operation, sql, count))
  known.set(count, statements)
  return statements
}

/** Only with the columns that it names: handing over a value costs as much as many a look into an index. */
function withGiven(operation: RowOperation<never>, sql: string, count: number): RowStatement {
  const columns: string[] = operation.columns.filter((column) => new RegExp(`\\b${column}\\b`).test(sql))
  const row = `(${columns.map(() => '?').join(', ')})`
  const given = `WITH given ("${columns.join('", "')}") AS (VALUES ${Array(count).fill(row).join(', ')})`
  return { sql: `${given} ${sql}`, columns }
}

function settleRows(key: string, group: readonly Unit[], results: readonly Result[]): void {
  const byKey = new Map<unknown, Row[]>()
  for (const result of results) {
    for (const row of result.rows) {
      const rows = byKey.get(row['key'])
      if (rows === undefined) byKey.set(row['key'], [row])
      else rows.push(row)
    }
  }
  for (const unit of group) unit.resolve((byKey.get(unit.value?.[key]) ?? []) as never)
}
