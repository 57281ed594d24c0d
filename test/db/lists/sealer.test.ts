import { afterEach, beforeEach, expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import type { ListQuery } from '../../../src/db/lists/list.ts'
import { Reader } from '../../../src/db/lists/reader.ts'
import { tenantsSince } from '../../../src/db/lists/seal.ts'
import { CROWD_WRITES, MOST_WRITES, Sealer } from '../../../src/db/lists/sealer.ts'
import { manualClock } from '../../support/manual-clock.ts'
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

/** What runs has ended. */
const settled = async (sealer: Sealer): Promise<void> => {
  await Reflect.get(sealer, 'running')
  await Promise.resolve()
}

/** Seals everything once; `meanwhile` is done when a block is built and not stored. */
async function sealOnce(meanwhile: () => Promise<unknown>): Promise<void> {
  const reader = new Reader(seeded.path, () => {})
  const clock = manualClock(Date.now())
  const sealer = new Sealer(seeded.database.gate, reader, silentLog, clock)
  reader.build = async (plan, now) => {
    const block = await Reader.prototype.build.call(reader, plan, now)
    if (plan.list === 'messages') await meanwhile()
    return block
  }
  sealer.wake()
  clock.advance(3000)
  await settled(sealer)
  await sealer.stop()
  await reader.close()
}

test('what is built is stored, and nothing else is left', async () => {
  await sealOnce(async () => undefined)
  expect(await blocks()).toBe(1)
  expect(await count('list_blocks WHERE id < 0')).toBe(0)
})

test.each([
  ['ends otherwise', FAIL_ONE],
  ['is moved', `UPDATE messages SET app_id = 'app_2' WHERE seq = 7`],
  ['is deleted', 'DELETE FROM messages WHERE seq = 7'],
])('a block is not stored when a row %s while it is built', async (_, sql) => {
  await sealOnce(() => change(sql))
  expect(await blocks()).toBe(0)
  expect((await seeded.database.lists.page(FAILED)).total).toBe(await count(`messages WHERE status = 'failed'`))
})

test('a block that is built anew is not stored when a row of it changes meanwhile', async () => {
  await change(`UPDATE messages SET status = 'sending' WHERE seq = 9`)
  await sealOnce(async () => undefined)
  await change(`UPDATE list_blocks SET header = json_set(header, '$.builtAt', until_at)`)
  await sealOnce(() => change(FAIL_ONE))
  expect(await blocks()).toBe(0)
})

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
  const clock = manualClock(Date.now())
  const sealer = new Sealer(seeded.database.gate, reader, log, clock)
  await change('ALTER TABLE list_block_columns RENAME TO elsewhere')
  sealer.wake()
  clock.advance(3000)
  await settled(sealer)
  expect(lines[0]).toContain('could not be summed up')
  await change('ALTER TABLE elsewhere RENAME TO list_block_columns')
  sealer.wake()
  clock.advance(3000)
  await settled(sealer)
  expect(await blocks()).toBe(1)
  await sealer.stop()
  await reader.close()
  expect(lines).toHaveLength(1)
})

/** A sealer whose reader has nothing to seal, and how often that was asked. */
function lookingSealer() {
  const clock = manualClock()
  const reader = new Reader(seeded.path, () => {})
  let looks = 0
  reader.plan = async () => (looks++, null)
  const sealer = new Sealer(seeded.database.gate, reader, silentLog, clock)
  const pause = async (writes: number): Promise<number> => {
    for (let n = 0; n < writes; n++) sealer.noteWrite()
    clock.advance(3000)
    await settled(sealer)
    return looks
  }
  return { sealer, pause }
}

const CROWD = CROWD_WRITES * 2

test('in a crowd nothing is sealed until it is over', async () => {
  const { sealer, pause } = lookingSealer()
  await pause(CROWD)
  for (let n = 0; n < 20; n++) expect(await pause(CROWD)).toBe(0)
  expect(await pause(CROWD_WRITES)).toBe(1)
  expect(await pause(0)).toBe(1)
  await sealer.stop()
})

test('in a crowd it is sealed when somebody lists, once', async () => {
  const { sealer, pause } = lookingSealer()
  await pause(CROWD)
  expect(await pause(CROWD)).toBe(0)
  sealer.wake()
  expect(await pause(CROWD)).toBe(1)
  for (let n = 0; n < 20; n++) expect(await pause(CROWD)).toBe(1)
  await sealer.stop()
})

test('in a crowd without an end it is sealed now and then', async () => {
  const { sealer, pause } = lookingSealer()
  const pauses = Math.ceil(MOST_WRITES / CROWD)
  let looks = 0
  for (let n = 0; n < 3 * pauses + 10; n++) looks = await pause(CROWD)
  expect(looks).toBe(3)
  await sealer.stop()
})

test('what comes while it is sealed is left to the next time, and not forgotten', async () => {
  const clock = manualClock(Date.now())
  const reader = new Reader(seeded.path, () => {})
  const sealer = new Sealer(seeded.database.gate, reader, silentLog, clock)
  const seals = async (): Promise<number> => (clock.advance(3000), await settled(sealer), await blocks())
  const isNew = clock.now() + 60_000
  reader.build = async (plan, now) => {
    await change(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT id || '-' || ${isNew}, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, ${isNew}, updated_at
      FROM messages WHERE created_at < ${isNew} LIMIT 300 ON CONFLICT DO NOTHING`)
    clock.advance(120_000)
    return Reader.prototype.build.call(reader, plan, now)
  }
  sealer.wake()
  expect(await seals()).toBe(1)
  sealer.wake()
  expect(await seals()).toBe(2)
  await sealer.stop()
  await reader.close()
})

test('a clock that is set back while it is sealed has no block built again and again', async () => {
  let wall = Date.now()
  const timer = manualClock(wall)
  await change(`UPDATE messages SET created_at = created_at + ${wall - 1000} - (SELECT max(created_at) FROM messages)`)
  await change(`UPDATE messages SET status = 'sending' WHERE seq = 9`)
  const reader = new Reader(seeded.path, () => {})
  const sealer = new Sealer(seeded.database.gate, reader, silentLog, { ...timer, now: () => wall })
  let built = 0
  reader.plan = async (now, isFirst) => {
    const plan = built > 5 ? null : await Reader.prototype.plan.call(reader, now, isFirst)
    if (built === 0) wall -= 60_000
    return plan
  }
  reader.build = (plan, now) => {
    if (plan.list === 'messages') built++
    return Reader.prototype.build.call(reader, plan, now)
  }
  sealer.wake()
  timer.advance(3000)
  await settled(sealer)
  expect(built).toBe(1)
  await sealer.stop()
  await reader.close()
})

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
