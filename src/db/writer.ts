import type { Argument, Result, Row } from './connection.ts'
import { isStorageFault } from './gate.ts'
import type { Commit } from './replicated-gate.ts'

/**
 * Group commit. Units that wait at the same time are committed together, with one fsync; each caller's promise resolves after
 * that commit. A commit groups its units: all rows of one operation run together, at the position of the first of them, and so
 * do all plain statements. Within a group the order is kept. If a commit fails because of a unit, its halves are committed, and so on,
 * so that only the bad one fails.
 */
export interface Writer {
  /** Commits the statements as one atomic unit; returns one result for each. */
  write(statements: readonly Statement[]): Promise<Result[]>
  /** The same in a separate commit. */
  alone(statements: readonly Statement[]): Promise<Result[]>
  /** Commits one row of a row operation; returns the rows that its statements returned with this row's key. */
  row<Value extends JsonRow>(operation: RowOperation<Value>, value: Value): Promise<Row[]>
  /** Calls the listener after each commit, even a failed one: a disk can fail after a commit. */
  onCommit(listener: () => void): void
  /** Resolves when everything passed in so far is committed or has failed. */
  drained(): Promise<void>
}

export interface Statement {
  sql: string
  args: Argument[]
}

/**
 * Statements that each write many rows. They read the rows of the commit from the table `input`, which has the columns that the
 * statement names: always write `input.name`. A statement that returns rows must return the row's key as `key`. An INSERT must read
 * `input` in its order (CROSS JOIN), so that rows get their `seq` in the order in which they were passed in.
 */
export interface RowOperation<Value extends JsonRow> {
  key: keyof Value & string
  statements: readonly string[]
}

export type JsonRow = Readonly<Record<string, string | number | null>>

/** What one caller wants to commit. */
type Unit = StatementUnit | RowUnit

interface StatementUnit {
  type: 'statements'
  statements: readonly Statement[]
  isAlone: boolean
  resolve(results: Result[]): void
  reject(error: unknown): void
}

interface RowUnit {
  type: 'row'
  operation: AnyOperation
  value: JsonRow
  /** The rows that the operation returned for this unit. */
  rows: Row[]
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

/** Any operation. A unit's value fits its operation, because both came in one call of `row`. */
type AnyOperation = RowOperation<never>

const MAX_UNITS_PER_COMMIT = 512
const MAX_TICKS = 4

/** `defer` delays the commit, so that all units of this tick of the event loop join it. */
export function createWriter(commit: Commit, defer: (flush: () => void) => void = setImmediate): Writer {
  const waiting: Unit[] = []
  const unconfirmed = new Set<Promise<void>>()
  const listeners: (() => void)[] = []
  const ended = (): void => listeners.forEach((listener) => listener())
  let flushing: Promise<void> | null = null

  const add = (unit: Unit): void => {
    waiting.push(unit)
    flushing ??= new Promise<void>((resolve) => defer(() => void flush().finally(resolve)))
  }
  const confirming = (confirmed: Promise<void>): void => {
    unconfirmed.add(confirmed)
    void confirmed.finally(() => (unconfirmed.delete(confirmed), ended()))
  }
  const nextTick = (): Promise<void> => new Promise((resolve) => defer(resolve))
  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await untilNoMoreCome(waiting, nextTick)
      const units = waiting.splice(0, countForOneCommit(waiting))
      await commitUnits(commit, units, confirming).finally(ended)
      if (waiting.length > 0) await nextTick()
    }
    flushing = null
  }
  const write = (statements: readonly Statement[], isAlone: boolean): Promise<Result[]> =>
    new Promise((resolve, reject) => add({ type: 'statements', statements, isAlone, resolve, reject }))
  return {
    write: (statements) => write(statements, false),
    alone: (statements) => write(statements, true),
    row: (operation, value) =>
      new Promise<Row[]>((resolve, reject) => add({ type: 'row', operation, value, rows: [], resolve, reject })),
    onCommit: (listener) => void listeners.push(listener),
    drained: async () => {
      while (flushing !== null || unconfirmed.size > 0) await Promise.all([flushing, ...unconfirmed])
    },
  }
}

/** Under load, waits a few ticks for more units, because a tick is short compared to a flush. A single unit does not wait. */
async function untilNoMoreCome(waiting: readonly Unit[], nextTick: () => Promise<void>): Promise<void> {
  for (let tick = 0, seen = 1; tick < MAX_TICKS && waiting.length > seen; tick++) {
    seen = waiting.length
    await nextTick()
  }
}

/**
 * How many units one commit takes: just one if it needs a separate commit. Results are matched by key, so the second of two rows with the same
 * key waits for the next commit.
 */
function countForOneCommit(waiting: readonly Unit[]): number {
  const keys = new Map<AnyOperation, Set<unknown>>()
  const most = Math.min(waiting.length, MAX_UNITS_PER_COMMIT)
  for (let count = 0; count < most; count++) {
    const unit = waiting[count]
    if (unit?.type === 'statements' && unit.isAlone) return Math.max(count, 1)
    if (unit?.type !== 'row') continue
    const key = unit.value[unit.operation.key]
    const own = keys.get(unit.operation) ?? new Set()
    if (own.has(key)) return count
    keys.set(unit.operation, own.add(key))
  }
  return most
}

/** Calls `confirming` with the end of what has to be waited for after the commit. It never rejects. */
async function commitUnits(
  commit: Commit,
  units: readonly Unit[],
  confirming: (confirmed: Promise<void>) => void,
): Promise<void> {
  const rejectAll = (error: unknown): void => units.forEach((unit) => unit.reject(error))
  try {
    const plan = planOf(units)
    const { results, confirmed } = await commit(plan.statements)
    if (confirmed === null) plan.resolve(results)
    else confirming(confirmed.then(() => plan.resolve(results)).catch(rejectAll))
  } catch (error) {
    if (units.length === 1 || isStorageFault(error)) rejectAll(error)
    else for (const half of halvesOf(units)) await commitUnits(commit, half, confirming)
  }
}

/** A bad unit among 512 is found in about 20 commits. One commit for each unit would take as many flushes, or uploads to a replica. */
function halvesOf(units: readonly Unit[]): Unit[][] {
  const middle = units.length >> 1
  return [units.slice(0, middle), units.slice(middle)]
}

interface Plan {
  statements: Statement[]
  resolve(results: readonly Result[]): void
}

function planOf(units: readonly Unit[]): Plan {
  const statements: Statement[] = []
  const resolvers: ((results: readonly Result[]) => void)[] = []
  const add = (own: readonly Statement[], resolve: (results: Result[]) => void): void => {
    const first = statements.length
    statements.push(...own)
    resolvers.push((results) => resolve(results.slice(first, first + own.length)))
  }
  const groups = Map.groupBy(units, (unit) => (unit.type === 'row' ? unit.operation : null))
  for (const [operation, group] of groups) {
    const rows = group.filter((unit) => unit.type === 'row')
    if (operation !== null) add(statementsOf(operation, rows), (own) => resolveRows(operation.key, rows, own))
    else for (const unit of group) if (unit.type === 'statements') add(unit.statements, unit.resolve)
  }
  return { statements, resolve: (results) => resolvers.forEach((resolver) => resolver(results)) }
}

/**
 * Statements are compiled for these numbers of rows; other numbers are split into these. Powers of two alone would run each statement three
 * times on average for up to 64 rows, these run it twice.
 */
const ROWS_AT_ONCE = [64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1] as const

function statementsOf(operation: AnyOperation, units: readonly RowUnit[]): Statement[] {
  const statements: Statement[] = []
  for (let first = 0; first < units.length;) {
    const count = ROWS_AT_ONCE.find((size) => size <= units.length - first) ?? 1
    const some = units.slice(first, first + count)
    for (const { columns, sql } of compiled(operation, count)) statements.push({ sql, args: argsOf(some, columns) })
    first += count
  }
  return statements
}

function argsOf(units: readonly RowUnit[], columns: readonly string[]): Argument[] {
  const args: Argument[] = []
  for (const { value } of units) for (const column of columns) args.push(memberOf(value, column))
  return args
}

function memberOf(value: JsonRow, column: string): Argument {
  const member = value[column]
  if (member === undefined) throw new Error(`A row has no ${column}, but its statement reads input.${column}`)
  return member
}

interface CompiledStatement {
  sql: string
  columns: readonly string[]
}

/** By the array of statements and not by the operation, so that a test can replace the statements of an operation. */
const compiledByCount = new WeakMap<readonly string[], Map<number, readonly CompiledStatement[]>>()

/** The statements of an operation for `count` rows, each with `input` in front. */
function compiled(operation: AnyOperation, count: number): readonly CompiledStatement[] {
  const known = compiledByCount.get(operation.statements) ?? new Map<number, readonly CompiledStatement[]>()
  compiledByCount.set(operation.statements, known)
  const statements = known.get(count) ?? operation.statements.map((sql) => withInput(sql, count))
  known.set(count, statements)
  return statements
}

/** Puts the table `input` with `count` rows before a statement. */
function withInput(sql: string, count: number): CompiledStatement {
  const columns = columnsIn(sql)
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array(count).fill(row).join(', ')
  const input = columns.length === 0 ? '' : `WITH input ("${columns.join('", "')}") AS (VALUES ${values}) `
  return { sql: input + sql, columns }
}

/** A literal, a comment, or a column of `input`. */
const COLUMN = /'[^']*'|--.*|\/\*[^]*?\*\/|\binput\.(?:"(\w+)"|(\w+))/g

/** The columns of `input` that a statement reads. No others are bound, because binding a value takes about as long as an index lookup. */
const columnsIn = (sql: string): string[] => [
  ...new Set([...sql.matchAll(COLUMN)].flatMap(([, quoted, plain]) => quoted ?? plain ?? [])),
]

/** Gives each unit the rows that carry its key. */
function resolveRows(key: string, units: readonly RowUnit[], results: readonly Result[]): void {
  const byKey = new Map<unknown, RowUnit>(units.map((unit) => [unit.value[key], unit]))
  for (const { rows } of results) for (const row of rows) byKey.get(row['key'])?.rows.push(row)
  for (const unit of units) unit.resolve(unit.rows)
}
