import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type ListName, LISTS, type ListPage, type ListQuery } from '../../../src/db/lists/list.ts'
import { MIN_SEGMENT_ROWS, nextRange, readSegment } from '../../../src/db/lists/plan.ts'
import { ReadConnection } from '../../../src/db/lists/read-connection.ts'
import { Search } from '../../../src/db/lists/search.ts'
import { beginSegment, finishSegment } from '../../../src/db/lists/segment-writer.ts'
import { SegmentStore } from '../../../src/db/lists/store.ts'
import { createRandom } from '../../simulation/random.ts'
import { EVERYTHING, type Seeded, seededDatabase } from './seeded.ts'

// Segments are built and deleted between random changes. Every total and page must equal the result of plain SQL.

const SEED = Number(process.env['LISTS_SEED'] ?? Math.floor(Math.random() * 1e9))
const ROWS = 5000
const STEPS = 30
const QUERIES_PER_STEP = 6
const random = createRandom(SEED)
const { tenantId } = EVERYTHING

let seeded: Seeded
let connection: ReadConnection
let store: SegmentStore
let search: Search

beforeEach(async () => {
  seeded = await seededDatabase(ROWS)
  connection = new ReadConnection(seeded.path)
  store = new SegmentStore(connection)
  search = new Search(connection, store)
})
afterEach(async () => {
  connection.close()
  await seeded[Symbol.asyncDispose]()
})

const change = (sql: string): Promise<unknown> => seeded.database.writer.write([{ sql, args: [] }])
const value = async (sql: string): Promise<string> => String((await seeded.database.gate.values(sql))[0]?.[0])
const someRow = (list: ListName): string =>
  `(SELECT coalesce(min(seq), (SELECT max(seq) FROM ${list})) FROM ${list} WHERE seq >= ${random.int(1, list === 'messages' ? ROWS : ROWS / 5)})`
const someTime = async (): Promise<number> =>
  Number(await value(`SELECT created_at FROM messages WHERE seq = ${someRow('messages')}`)) + random.int(-2, 2)

const insertMessage = (at: number): Promise<unknown> =>
  change(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
    VALUES ('one', 'job', '${tenantId}', 'app_1', 'outbound', '1', '2', '', 'sent', ${at}, 0)`)

/** Inserts rows at any time, as after a clock that was set back. */
async function insertMessages(at: number, status: string): Promise<void> {
  const values = Array.from({ length: random.int(1, 40) }, () => {
    const id = random.int(0, 1e15)
    return `('m${id}', 'job', '${tenantId}', 'app_${random.int(1, 5)}', ${random.pick(['NULL', `'u${random.int(1, 500)}'`])},
      'outbound', '+1555${random.int(1, 9)}', '+1666${random.int(1, 900)}', '', '${status}', ${at + random.int(0, 3)}, 0)`
  })
  await change(`INSERT INTO messages (id, job_id, tenant_id, app_id, user_id, direction, from_number, to_number, body, status, created_at, updated_at)
    VALUES ${values.join()}`)
}

/**
 * Compacts one range of a list, as the reader thread and the main thread do. `meanwhile` runs between the steps of
 * reading.
 */
async function compact(list: ListName, meanwhile = async (): Promise<unknown> => undefined): Promise<void> {
  const isOutdated = search.states.isOutdated.bind(search.states)
  const range = nextRange(connection, list, tenantId, store.segments(list, tenantId), Date.now(), isOutdated)
  if (range === null) return
  const plan = { list, tenantId, after: range.after, until: range.until }
  const id = await beginSegment(seeded.database.gate, plan)
  const segment = await readSegment(connection, plan, async () => void (await meanwhile()))
  await finishSegment(seeded.database.gate, id, segment)
}

const STATES = { messages: ['queued', 'sending', 'sent', 'failed'], deliveries: ['success', 'http_error', 'timeout'] }
const setState = (list: ListName): Promise<unknown> =>
  change(`UPDATE ${list} SET ${LISTS[list].state} = '${random.pick(STATES[list])}' WHERE seq = ${someRow(list)}`)

const CHANGES: (() => Promise<unknown>)[] = [
  async () => insertMessages(await someTime(), random.pick(['queued', 'sent'])),
  async () => insertMessages(Number(await value('SELECT max(created_at) FROM messages')), 'queued'),
  () => setState('messages'),
  () => setState('deliveries'),
  () =>
    change(
      `UPDATE messages SET status = 'sent' WHERE status IN ('queued', 'sending') AND seq % 3 = ${random.int(0, 2)}`,
    ),
  () => change(`UPDATE deliveries SET outcome = NULL WHERE seq % 200 = ${random.int(0, 199)}`),
  () => change(`UPDATE deliveries SET outcome = 'timeout' WHERE outcome IS NULL AND seq % 2 = ${random.int(0, 1)}`),
  () => change(`UPDATE messages SET app_id = 'app_2' WHERE seq = ${someRow('messages')}`),
  () => change(`DELETE FROM messages WHERE seq = ${someRow('messages')}`),
  () =>
    change(
      `DELETE FROM messages WHERE seq IN (SELECT seq FROM messages ORDER BY created_at LIMIT ${random.int(1, 30)})`,
    ),
  // Erases one number.
  () =>
    change(
      `DELETE FROM messages WHERE to_number = (SELECT to_number FROM messages WHERE seq = ${someRow('messages')})`,
    ),
]

const rarelyChange = async (): Promise<unknown> => random.chance(0.1) && random.pick(CHANGES)()

async function randomQuery(): Promise<ListQuery> {
  const list = random.pick(['messages', 'messages', 'deliveries'] as const)
  const equal: Record<string, string> = {}
  for (const column of LISTS[list].columns.filter(() => random.chance(0.25))) {
    const found = await value(`SELECT ${column} FROM ${list} WHERE seq = ${someRow(list)}`)
    equal[column] = random.chance(0.1) ? 'nothing' : found
  }
  const times = [await someTime(), await someTime()].toSorted((a, b) => a - b)
  return {
    ...EVERYTHING,
    list,
    equal,
    since: random.chance(0.3) ? (times[0] ?? 0) : 0,
    until: random.chance(0.3) ? (times[1] ?? 0) : Number.MAX_SAFE_INTEGER,
    offset: random.pick([0, 0, 5, random.int(0, ROWS)]),
    limit: random.int(1, 100),
    item: `json_quote(${list}.seq)`,
  }
}

/** The page by plain SQL, in the shape of `Search`. */
async function expected({ list, equal, since, until, offset, limit }: ListQuery): Promise<ListPage> {
  const { at } = LISTS[list]
  const filters = Object.entries(equal).map(([column, wanted]) => ` AND ${column} = '${wanted}'`)
  const where = `FROM ${list} WHERE tenant_id = '${tenantId}' AND ${at} BETWEEN ${since} AND ${until} ${filters.join('')}
    ${list === 'deliveries' ? 'AND outcome IS NOT NULL' : ''}`
  const page = `SELECT seq ${where} ORDER BY ${at} DESC, seq DESC LIMIT ${limit} OFFSET ${offset}`
  const seqs = await seeded.database.gate.values(page)
  return { total: Number(await value(`SELECT count(*) ${where}`)), items: seqs.map(([seq]) => String(seq)).join() }
}

test(`totals and pages equal plain SQL after random changes, LISTS_SEED=${SEED}`, async () => {
  console.log(`LISTS_SEED=${SEED}`)
  for (const list of ['messages', 'messages', 'deliveries'] as const) await compact(list)
  expect(store.segments('messages', tenantId)).toHaveLength(2)
  for (let step = 0; step < STEPS; step++) {
    for (let n = 0; n < QUERIES_PER_STEP; n++) {
      const query = await randomQuery()
      expect({ step, query, ...search.page(query) }).toEqual({ step, query, ...(await expected(query)) })
    }
    await random.pick(CHANGES)()
    for (const list of ['messages', 'deliveries'] as const) if (random.chance(0.5)) await compact(list, rarelyChange)
  }
})

test('a segment holds at least a minimum of rows, and small neighbours are merged', async () => {
  const seqOf = (row: number): Promise<string> =>
    value(`SELECT created_at FROM messages ORDER BY created_at LIMIT 1 OFFSET ${row}`)
  const rows = async (): Promise<unknown[]> =>
    (
      await seeded.database.gate.values(`SELECT row_count FROM list_segments WHERE list = 'messages' ORDER BY until_at`)
    ).flat()
  await change(`DELETE FROM messages WHERE created_at >= ${await seqOf(MIN_SEGMENT_ROWS - 1)}`)
  await compact('messages')
  expect(await rows()).toEqual([])
  await insertMessages(Date.parse('2026-03-01'), 'sent')
  await compact('messages')
  expect(await rows()).toHaveLength(1)
  const first = Number((await rows())[0])
  const more = Array.from(
    { length: 4096 },
    (_, n) =>
      `('n${n}', 'j', '${tenantId}', 'a', 'outbound', '1', '2', '', 'sent', ${Date.parse('2026-04-01') + n}, 0)`,
  )
  for (const part of [more.slice(0, 300), more.slice(300)]) {
    await change(
      `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at) VALUES ${part.join()}`,
    )
    await compact('messages')
  }
  expect(await rows()).toEqual([first, 300, 3796])
  await compact('messages')
  expect(await rows()).toEqual([first + 300 + 3796])
})

test('a segment that is queried while it is built is used once it is finished', async () => {
  await compact('messages', async () => search.page(EVERYTHING))
  expect(search.page(EVERYTHING).total).toBe(ROWS)
  expect(store.lastSegments('messages', tenantId)).toHaveLength(1)
})

test.each([
  ['inserted', 'after', 0, false],
  ['inserted', 'after', 1, true],
  ['inserted', 'until', 0, true],
  ['inserted', 'until', 1, false],
  ['deleted', 'until', 0, true],
  ['ended', 'until', 0, true],
  ['moved', 'until', 0, true],
] as const)('a row that is %s at %s + %d ms deletes its segment: %p', async (how, end, ms, isDeleted) => {
  await compact('messages')
  const { after, until } = store.segments('messages', tenantId)[0] ?? { after: 0, until: 0 }
  const at = (end === 'after' ? after : until) + ms
  const where = `WHERE tenant_id = '${tenantId}' AND created_at = ${at}`
  if (how === 'inserted') await insertMessage(at)
  if (how === 'deleted') await change(`DELETE FROM messages ${where}`)
  if (how === 'ended') await change(`UPDATE messages SET status = 'failed' ${where}`)
  if (how === 'moved') await change(`UPDATE messages SET created_at = 9e12 ${where}`)
  expect(store.segments('messages', tenantId)).toHaveLength(isDeleted ? 0 : 1)
})

test('a repeated query sees that open rows of a segment have ended', async () => {
  await change(`UPDATE messages SET status = 'queued' WHERE seq IN (7, 8, 9)`)
  await compact('messages')
  const { id } = store.segments('messages', tenantId)[0] ?? {}
  const queued = (): number => search.page({ ...EVERYTHING, equal: { status: 'queued' } }).total
  for (const [seq, left] of [
    [7, 2],
    [8, 1],
    [9, 0],
  ] as const) {
    expect(queued()).toBe(left + 1)
    await change(`UPDATE messages SET status = 'sent' WHERE seq = ${seq}`)
    expect(queued()).toBe(left)
  }
  expect(store.segments('messages', tenantId)[0]?.id).toBe(id)
})
