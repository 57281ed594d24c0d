import { afterEach, beforeEach, expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { Compactor, HIGH_LOAD_WRITES, MAX_DEFERRED_WRITES } from '../../../src/db/lists/compactor.ts'
import type { ListQuery } from '../../../src/db/lists/list.ts'
import { tenantsSince } from '../../../src/db/lists/plan.ts'
import { ListReader } from '../../../src/db/lists/reader.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { EVERYTHING, type Seeded, seededDatabase } from './seeded.ts'

const FAILED: ListQuery = { ...EVERYTHING, equal: { status: 'failed' } }
let seeded: Seeded

beforeEach(async () => {
  seeded = await seededDatabase(3000)
})
afterEach(() => seeded[Symbol.asyncDispose]())

const count = async (from: string): Promise<number> =>
  Number((await seeded.database.gate.execute(`SELECT count(*) AS n FROM ${from}`)).rows[0]?.['n'])
const segments = (): Promise<number> => count(`list_segments WHERE list = 'messages' AND row_count IS NOT NULL`)
const change = (sql: string): Promise<unknown> => seeded.database.gate.execute(sql)
const FAIL_ONE = `UPDATE messages SET status = 'failed' WHERE seq = (SELECT min(seq) FROM messages WHERE status = 'sent')`

/** Waits for the current run. */
const finished = async (compactor: Compactor): Promise<void> => {
  await compactor.running
  await Promise.resolve()
}

/** Compacts everything once; `meanwhile` happens after a segment is built and before it is stored. */
async function compactOnce(meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
  const reader = new ListReader(seeded.path, () => {})
  const clock = manualClock(Date.now())
  const compactor = new Compactor(seeded.database.gate, reader, silentLog, clock)
  reader.build = async (plan) => {
    const segment = await ListReader.prototype.build.call(reader, plan)
    if (plan.list === 'messages') await meanwhile()
    return segment
  }
  compactor.wake()
  clock.advance(3000)
  await finished(compactor)
  await compactor.stop()
  await reader.close()
}

test('a segment is stored with its columns', async () => {
  await compactOnce()
  expect(await segments()).toBe(1)
  expect(await count(`list_segments WHERE row_count IS NULL`)).toBe(0)
  expect(
    await count(`list_segment_columns WHERE segment_id IN (SELECT id FROM list_segments WHERE list = 'messages')`),
  ).toBe(8)
})

test.each([
  ['ends in another state', FAIL_ONE],
  ['moves to another app', `UPDATE messages SET app_id = 'app_2' WHERE seq = 7`],
  ['is deleted', 'DELETE FROM messages WHERE seq = 7'],
])('a segment is not stored when one of its rows %s while it is built', async (_, sql) => {
  await compactOnce(() => change(sql))
  expect(await segments()).toBe(0)
  expect(await count(`list_segment_columns WHERE segment_id NOT IN (SELECT id FROM list_segments)`)).toBe(0)
  expect((await seeded.database.lists.page(FAILED)).total).toBe(await count(`messages WHERE status = 'failed'`))
})

test('a segment that was begun and never finished is not read, and goes with the next one', async () => {
  await change(
    `INSERT INTO list_segments (list, tenant_id, after_at, until_at) VALUES ('messages', '${EVERYTHING.tenantId}', -1, 9e15)`,
  )
  expect((await seeded.database.lists.page(EVERYTHING)).total).toBe(3000)
  await compactOnce()
  expect(await count('list_segments WHERE row_count IS NULL')).toBe(0)
  expect(await segments()).toBe(1)
})

/** A reader and the compactor that its queries wake; `pause` lets a pause of the compactor pass. */
function queriedCompactor() {
  const clock = manualClock(Date.now())
  const reader = new ListReader(seeded.path, () => compactor.wake())
  const compactor = new Compactor(seeded.database.gate, reader, silentLog, clock)
  return {
    reader,
    pause: async (): Promise<void> => {
      clock.advance(3000)
      await finished(compactor)
    },
    [Symbol.asyncDispose]: async () => {
      await compactor.stop()
      await reader.close()
    },
  }
}

/** Queries by state, and lets a pause of the compactor pass. */
async function listFailed(): Promise<number> {
  await using queried = queriedCompactor()
  const { total } = await queried.reader.page(FAILED)
  await queried.pause()
  return total
}

test('a row that ends leaves its segment alone; a query by state has it built once more', async () => {
  const segmentIds = async (): Promise<unknown> =>
    seeded.database.gate.values(`SELECT id, open_count FROM list_segments WHERE list = 'messages'`)
  await change(`UPDATE messages SET status = 'sending' WHERE seq = 9`)
  await compactOnce()
  const [first] = (await segmentIds()) as number[][]
  expect(first?.[1]).toBe(1)
  const failed = await listFailed()
  await change(`UPDATE messages SET status = 'failed' WHERE seq = 9`)
  expect(await segmentIds()).toEqual([first])
  expect(await listFailed()).toBe(failed + 1)
  expect(await segmentIds()).toEqual([[expect.any(Number), 0]])
  expect(await segmentIds()).not.toEqual([[first?.[0], 0]])
})

test('segments that are deleted just after a query are built again', async () => {
  await using queried = queriedCompactor()
  await queried.reader.page(FAILED)
  await queried.pause()
  expect(await segments()).toBe(1)
  await queried.reader.page(FAILED)
  await change('DELETE FROM list_segments')
  await queried.reader.page(FAILED)
  await queried.pause()
  expect(await segments()).toBe(1)
})

test('a failure is logged, and the next writes try again', async () => {
  const lines: string[] = []
  const reader = new ListReader(seeded.path, () => {})
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void lines.push(JSON.stringify([fields, message])),
  }
  const clock = manualClock(Date.now())
  const compactor = new Compactor(seeded.database.gate, reader, log, clock)
  await change('ALTER TABLE list_segment_columns RENAME TO elsewhere')
  compactor.wake()
  clock.advance(3000)
  await finished(compactor)
  expect(lines[0]).toContain('could not be compacted')
  await change('ALTER TABLE elsewhere RENAME TO list_segment_columns')
  compactor.wake()
  clock.advance(3000)
  await finished(compactor)
  expect(await segments()).toBe(1)
  await compactor.stop()
  await reader.close()
  expect(lines).toHaveLength(1)
})

/** A compactor without work; `pause` makes so many writes, lets a pause pass and returns the number of runs so far. */
function idleCompactor() {
  const clock = manualClock()
  const reader = new ListReader(seeded.path, () => {})
  let runs = 0
  reader.plan = async () => (runs++, null)
  const compactor = new Compactor(seeded.database.gate, reader, silentLog, clock)
  const pause = async (writes: number): Promise<number> => {
    for (let n = 0; n < writes; n++) compactor.noteWrite()
    clock.advance(3000)
    await finished(compactor)
    return runs
  }
  return { compactor, pause }
}

const HIGH_LOAD = HIGH_LOAD_WRITES * 2

test('under high load compaction is deferred until the load is over', async () => {
  const { compactor, pause } = idleCompactor()
  await pause(HIGH_LOAD)
  for (let n = 0; n < 20; n++) expect(await pause(HIGH_LOAD)).toBe(0)
  expect(await pause(HIGH_LOAD_WRITES)).toBe(1)
  expect(await pause(0)).toBe(1)
  await compactor.stop()
})

test('under high load a query makes the compactor run once', async () => {
  const { compactor, pause } = idleCompactor()
  await pause(HIGH_LOAD)
  expect(await pause(HIGH_LOAD)).toBe(0)
  compactor.wake()
  expect(await pause(HIGH_LOAD)).toBe(1)
  for (let n = 0; n < 20; n++) expect(await pause(HIGH_LOAD)).toBe(1)
  await compactor.stop()
})

test('under high load without end the compactor runs now and then', async () => {
  const { compactor, pause } = idleCompactor()
  const pauses = Math.ceil(MAX_DEFERRED_WRITES / HIGH_LOAD)
  let runs = 0
  for (let n = 0; n < 3 * pauses + 10; n++) runs = await pause(HIGH_LOAD)
  expect(runs).toBe(3)
  await compactor.stop()
})

test('rows that are inserted during a run are left to the next run', async () => {
  const clock = manualClock(Date.now())
  const reader = new ListReader(seeded.path, () => {})
  const compactor = new Compactor(seeded.database.gate, reader, silentLog, clock)
  const compacted = async (): Promise<number> => (clock.advance(3000), await finished(compactor), await segments())
  const newest = clock.now() + 60_000
  reader.build = async (plan) => {
    await change(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      SELECT id || '-' || ${newest}, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, ${newest}, updated_at
      FROM messages WHERE created_at < ${newest} LIMIT 300 ON CONFLICT DO NOTHING`)
    clock.advance(120_000)
    return ListReader.prototype.build.call(reader, plan)
  }
  compactor.wake()
  expect(await compacted()).toBe(1)
  compactor.wake()
  expect(await compacted()).toBe(2)
  await compactor.stop()
  await reader.close()
})

test.each(['messages', 'deliveries'] as const)(
  'the tenants with new %s are read from the new rows, not from an index of all rows',
  async (list) => {
    const { rows } = await seeded.database.gate.execute({
      sql: `EXPLAIN QUERY PLAN ${tenantsSince(list)}`,
      args: [1],
    })
    expect(String(rows[0]?.['detail'])).toContain('INTEGER PRIMARY KEY (rowid>?)')
  },
)
