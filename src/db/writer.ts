import type { Argument, Result, Row, Whole } from './connection.ts'
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
  whole?: Whole | undefined
}

/**
 * Many rows, one statement a table: each statement reads the rows of this commit from the table `given`, whose columns
 * are those named here. A RETURNING clause must name the row's key `key`, and beside it at most an AUTOINCREMENT `seq`: as
 * long as every row given is touched, nothing is read back, and an INSERT must take them in their order (CROSS JOIN).
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
  /** What its operation has answered for it. */
  rows: Row[]
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
      const units = waiting.splice(0, countForOneCommit(waiting))
      await commit(gate, units)
      if (waiting.length > 0) await nextTurn()
    }
    flushing = null
  }
  return {
    write: (statements) =>
      new Promise<Result[]>((resolve, reject) =>
        add({ operation: null, statements, value: null, rows: [], resolve, reject }),
      ),
    row: (operation, value) =>
      new Promise<Row[]>((resolve, reject) => add({ operation, statements: [], value, rows: [], resolve, reject })),
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

/** Two rows with one key could not tell their answers apart: the second one waits for the next commit. */
function countForOneCommit(waiting: readonly Unit[]): number {
  const keys = new Map<RowOperation<never>, Set<unknown>>()
  const most = Math.min(waiting.length, MAX_UNITS_PER_COMMIT)
  for (let count = 0; count < most; count++) {
    const { operation = null, value } = waiting[count] ?? {}
    if (operation === null) continue
    const own = keys.get(operation) ?? new Set()
    keys.set(operation, own)
    if (own.has(value?.[operation.key])) return count
    own.add(value?.[operation.key])
  }
  return most
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
      const chunks = chunksOf(operation, group)
      for (const { statement } of chunks) statements.push(statement)
      settlers.push((results) => settleRows(operation.key, group, chunks, results.slice(first)))
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

/** A statement for some rows of a group. */
interface Chunk {
  statement: Statement
  units: readonly Unit[]
  seqName: string | null
}

function chunksOf(operation: RowOperation<never>, group: readonly Unit[]): Chunk[] {
  const chunks: Chunk[] = []
  for (let first = 0; first < group.length;) {
    const count = ROWS_AT_ONCE.find((size) => size <= group.length - first) ?? 1
    const units = group.slice(first, first + count)
    for (const { columns, seqName, ...statement } of statementsFor(operation, count))
      chunks.push({ statement: { ...statement, args: argsOf(units, columns) }, units, seqName })
    first += count
  }
  return chunks
}

function argsOf(rows: readonly Unit[], columns: readonly string[]): Argument[] {
  const args: Argument[] = []
  for (const { value } of rows) for (const column of columns) args.push(value?.[column] ?? null)
  return args
}

interface RowStatement {
  sql: string
  whole: Whole | undefined
  columns: readonly string[]
  /** What the rowid is called in the answer; null when it is not asked for. */
  seqName: string | null
}

const made = new WeakMap<readonly string[], Map<number, readonly RowStatement[]>>()

/** The statements with `given` in front of them, for that many rows. */
function statementsFor(operation: RowOperation<never>, count: number): readonly RowStatement[] {
  const known = made.get(operation.statements) ?? new Map<number, readonly RowStatement[]>()
  made.set(operation.statements, known)
  const statements = known.get(count) ?? operation.statements.map((sql) => withGiven(operation, sql, count))
  known.set(count, statements)
  return statements
}

/** Only with the columns that it names: handing over a value costs as much as many a look into an index. */
function withGiven(operation: RowOperation<never>, sql: string, count: number): RowStatement {
  const columns: string[] = operation.columns.filter((column) => new RegExp(`\\b${column}\\b`).test(sql))
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array(count).fill(row).join(', ')
  const given = columns.length === 0 ? '' : `WITH given ("${columns.join('", "')}") AS (VALUES ${values}) `
  const [, silent, seq, seqName] = RETURNING.exec(sql) ?? []
  const whole = silent === undefined ? undefined : { sql: given + silent, rows: count }
  return { sql: given + sql, whole, columns, seqName: seqName ?? seq ?? null }
}

/** An answer that is known without reading it, as long as it is one for each row. */
const RETURNING = /^([^]*?)\s+RETURNING \w+ AS key(?:, (seq)(?: AS (\w+))?)?$/

/** Answers that are known without reading go to their units by their places, the others by their keys. */
function settleRows(key: string, group: readonly Unit[], chunks: readonly Chunk[], results: readonly Result[]): void {
  let byKey: Map<unknown, Unit> | null = null
  chunks.forEach((chunk, place) => {
    const { rows = [], lastRow = null } = results[place] ?? {}
    if (chunk.statement.whole !== undefined && lastRow !== null) return answerWhole(key, chunk, lastRow)
    for (const row of rows) {
      byKey ??= new Map(group.map((unit) => [unit.value?.[key], unit]))
      byKey.get(row['key'])?.rows.push(row)
    }
  })
  for (const unit of group) unit.resolve(unit.rows as never)
}

/** What RETURNING would have said. */
function answerWhole(key: string, { units, seqName }: Chunk, lastRow: number): void {
  const first = lastRow - units.length + 1
  units.forEach(({ value, rows }, place) => {
    const row: Record<string, string | number | null> = { key: value?.[key] ?? null }
    if (seqName !== null) row[seqName] = first + place
    rows.push(row)
  })
}
