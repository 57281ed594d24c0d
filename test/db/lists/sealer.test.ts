import { afterEach, beforeEach, expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import type { ListQuery } from '../../../src/db/lists/list.ts'
import { Reader } from '../../../src/db/lists/reader.ts'
import { tenantsSince } from '../../../src/db/lists/seal.ts'
import { Sealer } from '../../../src/db/lists/sealer.ts'
import { until } from '../../support/world.ts'
import { EVERYTHING, type Seeded, seededDatabase } from './seeded.ts'

const FAILED: ListQuery = { ...EVERYTHING, equal: { status: 'failed' } }
let seeded: Seeded

beforeEach(async () => {
  seeded = await seededDatabase(3000)
})
afterEach(() => seeded[Symbol.asyncDispose]())

const count = async (from: string): Promise<number> =>
  Number((await seeded.database.gate.execute(`SELECT count(*) AS n FROM ${from}`)).rows[0]?.['n'])
const blocks = (): Promise<number> => count(`list_blocks WHERE list = 'messages' AND id > 0`)
const change = (sql: string): Promise<unknown> => seeded.database.gate.execute(sql)
const FAIL_ONE = `UPDATE messages SET status = 'failed' WHERE seq = (SELECT min(seq) FROM messages WHERE status = 'sent')`

/** Seals everything once; `meanwhile` is done when a block is built and not stored. */
async function sealOnce(meanwhile: () => Promise<unknown>): Promise<void> {
  const reader = new Reader(seeded.path, () => {})
  const sealer = new Sealer(seeded.database.gate, reader, silentLog)
  let built = 0
  reader.build = async (plan, now) => {
    const block = await Reader.prototype.build.call(reader, plan, now)
    if (plan.list === 'messages') await meanwhile()
    built++
    return block
  }
  sealer.wake()
  await until(() => built > 0, 9000)
  await sealer.stop()
  await reader.close()
}

test('what is built is stored, and nothing else is left', async () => {
  await sealOnce(async () => undefined)
  expect(await blocks()).toBe(1)
  expect(await count('list_blocks WHERE id < 0')).toBe(0)
}, 20_000)

test.each([
  ['ends otherwise', FAIL_ONE],
  ['is moved', `UPDATE messages SET app_id = 'app_2' WHERE seq = 7`],
  ['is deleted', 'DELETE FROM messages WHERE seq = 7'],
])(
  'a block is not stored when a row %s while it is built',
  async (_, sql) => {
    await sealOnce(() => change(sql))
    expect(await blocks()).toBe(0)
    expect((await seeded.database.lists.page(FAILED)).total).toBe(await count(`messages WHERE status = 'failed'`))
  },
  20_000,
)

test('a block that is built anew is not stored when a row of it changes meanwhile', async () => {
  await change(`UPDATE messages SET status = 'sending' WHERE seq = 9`)
  await sealOnce(async () => undefined)
  await change(`UPDATE list_blocks SET header = json_set(header, '$.builtAt', until_at)`)
  await sealOnce(() => change(FAIL_ONE))
  expect(await blocks()).toBe(0)
}, 30_000)

test('blocks that went a moment after a look are built again', async () => {
  await seeded.database.lists.page(FAILED)
  await until(async () => (await blocks()) === 1, 9000)
  await seeded.database.lists.page(FAILED)
  await change('DELETE FROM list_blocks')
  await seeded.database.lists.page(FAILED)
  await until(async () => (await blocks()) === 1, 9000)
}, 30_000)

test('a failure is logged, and the next writes try again', async () => {
  const lines: string[] = []
  const reader = new Reader(seeded.path, () => {})
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void lines.push(JSON.stringify([fields, message])),
  }
  const sealer = new Sealer(seeded.database.gate, reader, log)
  await change('ALTER TABLE list_block_columns RENAME TO elsewhere')
  sealer.wake()
  await until(() => lines.length === 1, 9000)
  expect(lines[0]).toContain('could not be summed up')
  await change('ALTER TABLE elsewhere RENAME TO list_block_columns')
  sealer.wake()
  await until(async () => (await blocks()) === 1, 9000)
  await sealer.stop()
  await reader.close()
  expect(lines).toHaveLength(1)
}, 30_000)

test.each(['messages', 'deliveries'] as const)(
  'who has new %s is read from them, not from the index of all',
  async (list) => {
    const { rows } = await seeded.database.gate.execute({
      sql: `EXPLAIN QUERY PLAN ${tenantsSince(list)}`,
      args: [1],
    })
    expect(String(rows[0]?.['detail'])).toContain('INTEGER PRIMARY KEY (rowid>?)')
  },
)
