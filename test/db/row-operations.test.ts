import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/database.ts'
import { type RowOperation, createWriter } from '../../src/db/writer.ts'
import { ACCEPT, ACCEPT_ONCE } from '../../src/features/sms/accept-rows.ts'
import { CLAIM, GIVE_UP, RESULT, RETRY, UNKNOWN } from '../../src/features/sms/attempt-rows.ts'
import {
  BEGIN,
  FIRST_FAILED,
  FIRST_RETRY,
  FIRST_SENT,
  FIRST_UNKNOWN,
} from '../../src/features/sms/first-attempt-rows.ts'
import { COUNT_OPEN_ATTEMPTS, HAS_OPEN_ATTEMPTS, OPEN_FIRST_ATTEMPT } from '../../src/db/open-attempts.ts'
import { BIND } from '../../src/features/sms/fence.ts'
import { CLOSE, OPEN } from '../../src/features/webhook-deliveries/delivery-rows.ts'
import { STORE } from '../../src/features/webhooks/store-inbound.ts'

type Operation = RowOperation<Record<string, string | number | null>>

const OPERATIONS = {
  ACCEPT,
  ACCEPT_ONCE,
  BEGIN,
  FIRST_FAILED,
  FIRST_RETRY,
  FIRST_SENT,
  FIRST_UNKNOWN,
  CLAIM,
  RESULT,
  RETRY,
  UNKNOWN,
  GIVE_UP,
  BIND,
  OPEN,
  CLOSE,
  STORE,
}

/** Looks for a first entry, or counts to a hundred: each ends there, once for all rows of a commit. And a list that is handed over. */
const BOUNDED = [
  'SCAN send_attempts USING INDEX send_attempts_open',
  'SCAN erased_messages USING COVERING INDEX erased_messages_by_age',
  'SCAN apps USING COVERING INDEX apps_by_tenant',
  'SCAN triggers USING COVERING INDEX triggers_by_tenant',
  'SCAN own VIRTUAL TABLE INDEX 1:',
]

/** What the statement before has inserted, in that order. */
const JUST_INSERTED = 'SEARCH messages USING INTEGER PRIMARY KEY (rowid>?)'

for (const [name, operation] of Object.entries(OPERATIONS) as [string, Operation][]) {
  for (const rows of [1, 64]) {
    test(`${name} of ${rows} reads no table through, however large it is`, async () => {
      const { gate, close } = await openDatabase({
        url: ':memory:',
        authToken: null,
        path: null,
        litestream: false,
      })
      const plans: string[] = []
      const orders: string[] = []
      const writer = createWriter({
        ...gate,
        batch: async (statements) => {
          for (const statement of statements) {
            const plan = await planOf(gate, statement)
            plans.push(...plan)
            if (typeof statement !== 'string' && / INTO /.test(statement.whole?.sql ?? '')) orders.push(outermost(plan))
          }
          return gate.batch(statements)
        },
      })
      const row = Object.fromEntries(operation.columns.map((column) => [column, null]))
      await Promise.allSettled(Array.from({ length: rows }, () => writer.row(operation, row)))
      expect(plans).not.toEqual([])
      expect(plans.filter((step) => /^SCAN (?!given|\d|CONSTANT)/.test(step) && !BOUNDED.includes(step))).toEqual([])
      // Rowids are counted, not read back: what is inserted must come in the order of what is given.
      expect(orders.filter((step) => rows > 1 && step !== 'SCAN given' && step !== JUST_INSERTED)).toEqual([])
      await close()
    })
  }
}

test('open attempts are found by the indexes that hold nothing else', async () => {
  const { gate, close } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
  const queries = [COUNT_OPEN_ATTEMPTS, `SELECT body FROM messages WHERE ${OPEN_FIRST_ATTEMPT}`]
  const plans = [
    ...(await Promise.all(queries.map((sql) => planOf(gate, sql)))),
    await planOf(gate, { sql: HAS_OPEN_ATTEMPTS, args: [''] }),
  ].flat()
  const reads = plans.filter((step) => /(messages|send_attempts)/.test(step))
  expect(reads).toHaveLength(5)
  for (const step of reads) expect(step).toMatch(/INDEX (messages_open|send_attempts_open)/)
  await close()
})

/** The rows of `given` themselves apart. */
const outermost = (plan: readonly string[]): string =>
  plan.find((step) => /^(SCAN|SEARCH) (?!\d* ?CONSTANT)/.test(step)) ?? 'SCAN given'

type Gate = Awaited<ReturnType<typeof openDatabase>>['gate']

async function planOf(gate: Gate, statement: Parameters<Gate['execute']>[0]): Promise<string[]> {
  const { sql, args = [] } = typeof statement === 'string' ? { sql: statement } : statement
  const { rows } = await gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args })
  return rows.map((row) => String(row['detail']))
}
