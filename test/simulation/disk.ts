import type { InStatement } from '@libsql/client'
import type { Result } from '../../src/db/connection.ts'
import type { Gate } from '../../src/db/gate.ts'
import type { Random } from './random.ts'
import { type Owner, type Timeline, outcomeOf } from './timeline.ts'

/** The database file. It survives every crash. */
export interface Disk {
  /** A real database in memory. */
  database: Gate
  /** The disk is full until this time and refuses every write. */
  fullUntil: number
  /** The next write succeeds but reports an error. */
  failsAfterCommit: boolean
  /** Called with each commit that changed something, before its result is reported. */
  committed(statements: readonly Statement[]): void
}

export type Statement = Exclude<InStatement, string>

/** The gate of one boot. Each call takes some time and ends with its process. */
export interface SimulatedGate extends Gate {
  /** Returns the pending writes, for a disk that performs them after the end of their process. */
  unfinished(): (() => void)[]
  /** Called when a write is submitted. */
  onWrite: ((statements: readonly Statement[]) => void) | null
}

interface Call {
  done: boolean
  perform(): void
  answer(): void
}

const isWrite = (sql: string): boolean => /\b(INSERT INTO|UPDATE|DELETE FROM)\b/i.test(sql)

export function simulatedGate(owner: Owner, disk: Disk, timeline: Timeline, random: Random): SimulatedGate {
  const queue: (Call & { write: boolean })[] = []

  const next = (): void => {
    const [call] = queue
    if (call === undefined) return
    timeline.after(owner, random.ms(0, 2), () => {
      call.perform()
      call.done = true
      // The commit is done and not reported yet. A crash at this time is the hardest case.
      timeline.after(owner, random.ms(0, 1), () => {
        queue.shift()
        call.answer()
        next()
      })
    })
  }
  const enqueue = <T>(statements: readonly InStatement[], action: (unit: Statement[]) => Outcome<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const unit = statements.map((statement) => statementOf(statement))
      let outcome: Outcome<T> = NOT_PERFORMED
      queue.push({
        write: unit.some(({ sql }) => isWrite(sql)),
        done: false,
        perform: () => {
          outcome = action(unit)
        },
        answer: () => (outcome.ok ? resolve(outcome.value) : reject(outcome.error)),
      })
      if (queue.length === 1) next()
      if (queue.at(-1)?.write === true) gate.onWrite?.(unit)
    })
  const execute = async (statement: InStatement): Promise<Result> => {
    const [result] = await enqueue([statement], (unit) => perform(disk, unit, false, timeline.now))
    if (result === undefined) throw new Error('A statement has one result')
    return result
  }
  const batch = (statements: readonly InStatement[]): Promise<Result[]> =>
    enqueue(statements, (unit) => perform(disk, unit, true, timeline.now))
  const values: Gate['values'] = (statement) =>
    enqueue([statement], ([query]) => outcomeOf(disk.database.values(query ?? '')))
  const unfinished = (): (() => void)[] => queue.filter((call) => call.write && !call.done).map((call) => call.perform)
  const gate: SimulatedGate = { execute, values, batch, unfinished, onWrite: null, close: () => Promise.resolve() }
  return gate
}

const statementOf = (statement: InStatement): Statement =>
  typeof statement === 'string' ? { sql: statement } : statement

type Outcome<T> = { ok: true; value: T } | { ok: false; error: Error }

const NOT_PERFORMED: Outcome<never> = { ok: false, error: new Error('Not performed') }

function perform(disk: Disk, statements: readonly Statement[], atomic: boolean, now: number): Outcome<Result[]> {
  const write = statements.some(({ sql }) => isWrite(sql))
  if (write && now < disk.fullUntil) return { ok: false, error: fault('SQLITE_FULL', 'database or disk is full') }
  const [first] = statements
  if (first === undefined) return { ok: true, value: [] }
  const { database } = disk
  const outcome = outcomeOf(atomic ? database.batch(statements) : database.execute(first).then((result) => [result]))
  if (!outcome.ok || !write) return outcome
  if (outcome.value.some((result) => result.changes > 0 || result.rows.length > 0)) disk.committed(statements)
  if (!disk.failsAfterCommit) return outcome
  disk.failsAfterCommit = false
  return { ok: false, error: fault('SQLITE_IOERR', 'disk I/O error') }
}

const fault = (code: string, message: string): Error => Object.assign(new Error(`${code}: ${message}`), { code })
