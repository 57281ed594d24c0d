import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import type { Gate } from '../../src/db/gate.ts'
import { type JsonRow, type RowOperation, createWriter } from '../../src/db/writer.ts'
import { commitTo } from '../../src/db/replicated-gate.ts'
import { COUNT_OPEN_ATTEMPTS, HAS_OPEN_ATTEMPTS } from '../../src/db/open-attempts.ts'
import * as deliveryRows from '../../src/messages/webhooks/delivery-rows.ts'
import { STORE, STORE_WITH_KEYWORD } from '../../src/messages/inbound/store-inbound.ts'
import { STORE_OPT_OUT } from '../../src/messages/opt-outs/opt-out-rows.ts'
import { ACCEPT, ACCEPT_ONCE, SCHEDULE, SCHEDULE_ONCE } from '../../src/messages/sending/accept-rows.ts'
import { CLAIM, CLOSE, END_FAILED, END, GIVE_UP, UNKNOWN } from '../../src/messages/sending/attempt-rows.ts'
import { OPEN_QUARANTINED } from '../../src/messages/sending/quarantine.ts'
import { CONCLUDE, CONCLUDE_OPTED_OUT } from '../../src/messages/receipts/state-rows.ts'

type Operation = RowOperation<Record<string, string | number | null>>

const OPERATIONS = {
  ACCEPT,
  ACCEPT_ONCE,
  SCHEDULE,
  SCHEDULE_ONCE,
  CLAIM,
  CLOSE,
  END,
  END_FAILED,
  UNKNOWN,
  GIVE_UP,
  OPEN_QUARANTINED,
  OPEN_FIRST_ATTEMPT: deliveryRows.OPEN_FIRST_ATTEMPT,
  OPEN_FURTHER_ATTEMPT: deliveryRows.OPEN_FURTHER_ATTEMPT,
  CLOSE_ATTEMPT: deliveryRows.CLOSE_ATTEMPT,
  CLOSE_FAILED_ATTEMPT: deliveryRows.CLOSE_FAILED_ATTEMPT,
  STORE,
  STORE_WITH_KEYWORD,
  STORE_OPT_OUT,
  CONCLUDE,
  CONCLUDE_OPTED_OUT,
}

/** Bounded scans: each ends at the first entry or after a hundred, once per commit, or reads only the given values. */
const BOUNDED = [
  'SCAN send_attempts USING INDEX send_attempts_open',
  'SCAN erased_messages USING COVERING INDEX erased_messages_by_age',
  'SCAN apps USING COVERING INDEX apps_by_tenant',
  'SCAN triggers USING COVERING INDEX triggers_by_tenant',
  'SCAN own VIRTUAL TABLE INDEX 1:',
  'SCAN wanted',
]

/** Reads the rows that the previous statement has inserted, in that order. */
const JUST_INSERTED = 'SEARCH messages USING INTEGER PRIMARY KEY (rowid>?)'

for (const [name, operation] of Object.entries(OPERATIONS) as [string, Operation][]) {
  for (const rows of [1, 64]) {
    test(`${name} of ${rows} rows scans no table`, async () => {
      const { gate, close } = await openDatabase({
        url: ':memory:',
        authToken: null,
        path: null,
        litestream: false,
      })
      let planned = 0
      const plans: string[] = []
      const orders: string[] = []
      const batch: Gate['batch'] = async (statements) => {
        for (const statement of statements) {
          const plan = await planOf(gate, statement)
          planned++
          plans.push(...plan)
          if (sqlOf(statement).includes('INSERT INTO')) orders.push(outermost(plan))
        }
        // The test needs only the plans. A storage fault keeps the writer from trying each row separately.
        throw Object.assign(new Error('Not written'), { code: 'SQLITE_READONLY' })
      }
      const writer = createWriter(commitTo({ batch }))
      // Rows with the same key would each have a commit of their own.
      const rowOf = (key: number): JsonRow =>
        new Proxy({}, { get: (_, column) => (column === operation.key ? key : null) })
      await Promise.allSettled(Array.from({ length: rows }, (_, key) => writer.row(operation, rowOf(key))))
      expect(planned).toBe(operation.statements.length)
      expect(plans.filter((step) => /^SCAN (?!input|\d|CONSTANT)/.test(step) && !BOUNDED.includes(step))).toEqual([])
      // The writer computes rowids by counting, so rows must be inserted in the given order.
      expect(orders.filter((step) => rows > 1 && step !== 'SCAN input' && step !== JUST_INSERTED)).toEqual([])
      await close()
    })
  }
}

test('open attempts are found by the index of open attempts', async () => {
  const { gate, close } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
  for (const statement of [COUNT_OPEN_ATTEMPTS, { sql: HAS_OPEN_ATTEMPTS, args: [''] }]) {
    const reads = (await planOf(gate, statement)).filter((step) => step.includes('send_attempts'))
    expect(reads).toEqual([expect.stringMatching(/INDEX send_attempts_open/)])
  }
  await close()
})

/** Returns the step that reads a table first, except for the values of `input`. */
const outermost = (plan: readonly string[]): string =>
  plan.find((step) => /^(SCAN|SEARCH) (?!\d* ?CONSTANT)/.test(step)) ?? 'SCAN input'

type InStatement = Parameters<Gate['execute']>[0]

const sqlOf = (statement: InStatement): string => (typeof statement === 'string' ? statement : statement.sql)

async function planOf(gate: Gate, statement: InStatement): Promise<string[]> {
  const { sql, args = [] } = typeof statement === 'string' ? { sql: statement } : statement
  const { rows } = await gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args })
  return rows.map((row) => String(row['detail']))
}
