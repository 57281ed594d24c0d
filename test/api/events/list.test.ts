import { expect, spyOn, test } from 'bun:test'
import type { World } from '../../support/world.ts'
import { FROM, TO, createWorld } from '../../support/world.ts'
import { Cursors } from '../../../src/messages/realtime/cursor.ts'
import { listenTo } from '../../support/socket.ts'

interface Page {
  events: Record<string, unknown>[]
  cursor: string
  gap: boolean
}

const page = async (world: World, query = '', key = world.key): Promise<Page> => {
  const { status, body } = await world.json<Page>('GET', `/v1/events?${query}`, { key })
  expect(status).toBe(200)
  return body
}

/** All events after a cursor, in pages of `limit`. */
async function allEvents(
  world: World,
  cursor: string,
  limit = 1000,
  key = world.key,
): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = []
  for (let after = cursor; ;) {
    const next = await page(world, `after=${after}&limit=${limit}`, key)
    expect(next.gap).toBe(false)
    if (next.events.length === 0) return events
    expect(next.events.length).toBeLessThanOrEqual(limit)
    events.push(...next.events)
    after = next.cursor
  }
}

test('without a cursor the answer has no events and the current cursor', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send())
  const { events, cursor, gap } = await page(world)
  expect({ events, gap }).toEqual({ events: [], gap: false })
  expect(cursor).toMatch(/^[\w-]{1,64}$/)
  expect(await page(world, `after=${cursor}`)).toMatchObject({ events: [], gap: false })
})

test('the log has the events of the WebSocket with equal fields and in order, for any page size', async () => {
  await using world = await createWorld()
  const { cursor } = await page(world)
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const sent = await world.send()
  await world.untilStatus(sent)
  const failed = await world.send({ from: '+15555550160' })
  await world.untilStatus(failed)
  await world.control.injectSms({ from: TO, to: FROM, text: 'an answer ☂' })
  const received = (await socket.received(8)).slice(1)
  for (const limit of [1, 2, 3, 1000]) expect(await allEvents(world, cursor, limit)).toEqual(received)
})

test('an app reads events of its own messages and of inbound messages of its tenant, and none of other tenants', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  const stranger = await world.otherTenant()
  const { cursor } = await page(world)
  await world.untilStatus(await world.send())
  await world.control.injectSms({ from: TO, to: FROM, text: 'an answer' })
  const own = await allEvents(world, cursor)
  expect(own.map((event) => event['status'] ?? event['type'])).toEqual(['queued', 'sending', 'sent', 'sms_inbound'])
  expect(await allEvents(world, cursor, 1000, second.apiKey)).toEqual(own.slice(3))
  expect(await allEvents(world, cursor, 1000, stranger.apiKey)).toEqual([])
})

test.each([
  'x',
  'ZTRhMDkxYzMzYjdkNTJmNg',
  'ZTRhMDkxYzMzYjdkNTJmNi40Mi4w=',
  'ZTRhMDkxYzMzYjdkNTJmNi40Mi4wAA',
  'a'.repeat(64),
  'a'.repeat(65),
  'a'.repeat(200),
  '%00',
  '☂',
  '1;DROP TABLE events',
  Buffer.from('0000000000000000.1.0').toString('base64url'),
  Buffer.alloc(43).toString('base64url'),
])('%s is no cursor', async (after) => {
  await using world = await createWorld({ connect: false, work: false })
  const { status, body } = await world.json('GET', `/v1/events?after=${encodeURIComponent(after)}`)
  expect({ status, body }).toEqual({ status: 400, body: { error: 'Invalid cursor' } })
})

test('a cursor tells nothing of the events of other tenants, and none can be made or changed', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.gateway.database.writer.write([
    { sql: `INSERT INTO events (seq, kinds, subject, at) VALUES (123456789, 1, 'msg_of_another', 1)`, args: [] },
  ])
  const { cursor } = await page(world)
  expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('123456789')
  expect(Buffer.from(cursor, 'base64url').toString('hex')).not.toContain((123456789).toString(16))
  expect((await page(world)).cursor).not.toBe(cursor)
  for (let at = 0; at < cursor.length; at++) {
    const changed = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`
    expect((await world.call('GET', `/v1/events?after=${changed}`)).status).toBe(400)
  }
  expect(await page(world, `after=${cursor}`)).toMatchObject({ events: [], gap: false })
})

test('cursors of an older encryption key are read while the key is in ENCRYPTION_KEYS', () => {
  const [older, newer] = [Buffer.alloc(32, 'older'), Buffer.alloc(32, 'newer')]
  const position = { seq: 2 ** 47, returned: 1 }
  const cursor = new Cursors([older]).encode('00000000000000ff', position)
  expect(cursor.length).toBeLessThanOrEqual(64)
  expect(new Cursors([newer, older]).decode(cursor)).toEqual({ epoch: '00000000000000ff', ...position })
  expect(new Cursors([newer]).decode(cursor)).toBeNull()
  expect(new Cursors([older]).decode(new Cursors([newer, older]).encode('00000000000000ff', position))).toBeNull()
})

test('an empty cursor counts as absent, and of several cursors the last one counts', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { cursor } = await page(world)
  await world.send()
  expect((await page(world, 'after=')).events).toEqual([])
  expect((await page(world, `after=x&after=${cursor}`)).events).toHaveLength(1)
})

test('limit is clamped', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { cursor } = await page(world)
  await Promise.all(Array.from({ length: 101 }, () => world.send()))
  const count = async (limit: string): Promise<number> =>
    (await page(world, `after=${cursor}&limit=${limit}`)).events.length
  expect(await Promise.all(['0', '-5', '1', '7', '5000', 'x', ''].map(count))).toEqual([1, 1, 1, 7, 101, 100, 100])
})

test('a page skips any number of rows of other apps, and is empty only at the end', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const stranger = await world.otherTenant()
  const { cursor } = await page(world)
  const first = await world.send()
  const { writer } = world.gateway.database
  const others = `INSERT INTO events (kinds, subject, at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000) SELECT 1, 'msg_' || i, 1 FROM n`
  await writer.write([{ sql: others, args: [] }])
  const second = await world.send()
  const one = await page(world, `after=${cursor}`)
  expect(one.events.map((event) => event['messageId'])).toEqual([first])
  const two = await page(world, `after=${one.cursor}`)
  expect(two.events.map((event) => event['messageId'])).toEqual([second])
  expect((await page(world, `after=${two.cursor}`)).events).toEqual([])
  const end = await page(world, `after=${cursor}`, stranger.apiKey)
  expect(end.events).toEqual([])
  // The gateway remembers empty ranges, and finds new events after them.
  await world.send({}, { key: stranger.apiKey })
  expect((await page(world, `after=${cursor}`, stranger.apiKey)).events).toHaveLength(1)
})

test('a purge while a page is read is a gap, and none if the page had passed its rows', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate, writer, reader } = world.gateway.database
  const others = `INSERT INTO events (kinds, subject, at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 21000) SELECT 1, 'msg_' || i, 1 FROM n`
  /** Reads 21,000 rows of others, an event, and more rows. After the first 20,000 rows, `count` rows are purged. */
  const purged = async (count: number): Promise<Page> => {
    await gate.execute('DELETE FROM events WHERE seq < (SELECT max(seq) FROM events)')
    const { cursor } = await page(world)
    await writer.write([{ sql: others, args: [] }])
    await world.send()
    await writer.write([{ sql: others, args: [] }])
    const read = reader.longRead.bind(reader)
    const spy = spyOn(reader, 'longRead')
    spy.mockImplementationOnce(read)
    spy.mockImplementationOnce(async (...query) => {
      await gate.execute(`DELETE FROM events WHERE seq < (SELECT min(seq) FROM events) + ${count}`)
      return read(...query)
    })
    const found = await page(world, `after=${cursor}`)
    spy.mockRestore()
    return found
  }
  await world.send()
  expect(await purged(15_000)).toMatchObject({ events: [{ status: 'queued' }], gap: false })
  expect(await purged(25_000)).toMatchObject({ events: [], gap: true })
})

test('the reader thread reads a page, and the end of the log needs no read', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { cursor } = await page(world)
  await world.send()
  const longRead = spyOn(world.gateway.database.reader, 'longRead')
  const pages = await Promise.all(Array.from({ length: 20 }, () => page(world, `after=${cursor}`)))
  expect(pages.every(({ events }) => events.length === 1)).toBe(true)
  expect(longRead).toHaveBeenCalledTimes(20)
  await page(world, `after=${pages[0]?.cursor}`)
  expect(longRead).toHaveBeenCalledTimes(20)
  longRead.mockRestore()
})

test('a page ends after 100,000 units of text, and the next one continues there', async () => {
  await using world = await createWorld()
  const { cursor } = await page(world)
  const text = 'ä'.repeat(9000)
  for (let n = 0; n < 25; n++) await world.control.injectSms({ from: TO, to: FROM, text: `${n} ${text}` })
  const sent = await world.send()
  await world.untilStatus(sent)
  const bodiesOf = ({ events }: Page): unknown[] => events.map((event) => event['body'] ?? event['status'])
  const first = await page(world, `after=${cursor}&limit=1000`)
  expect(bodiesOf(first)).toEqual(Array.from({ length: 12 }, (_, n) => `${n} ${text}`))
  const all = await allEvents(world, cursor)
  const texts = Array.from({ length: 25 }, (_, n) => `${n} ${text}`)
  expect(all.map((event) => event['body'] ?? event['status'])).toEqual([...texts, 'queued', 'sending', 'sent'])
  for (const limit of [1, 11, 12, 13]) expect(await allEvents(world, cursor, limit)).toEqual(all)
})

test('the text of a message that was sent is not read for its events, which do not have it', async () => {
  await using world = await createWorld()
  const { cursor } = await page(world)
  const { reader, gate } = world.gateway.database
  using reads = spyOn(reader, 'longRead')
  using values = spyOn(gate, 'values')
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await world.untilStatus(await world.send({ body: 'a text that was sent' }))
  await world.control.injectSms({ from: TO, to: FROM, text: 'an answer' })
  const seen = await socket.received(5)
  expect(await allEvents(world, cursor)).toEqual(seen.slice(1))
  const ofLog = ({ mock }: { mock: { calls: unknown[][]; results: { value?: unknown }[] } }): unknown[] =>
    mock.results.filter((_, at) => JSON.stringify(mock.calls[at]).includes('FROM events')).map(({ value }) => value)
  const rows = await Promise.all([...ofLog(reads), ...ofLog(values)])
  expect(JSON.stringify(rows)).toContain('an answer')
  expect(JSON.stringify(rows)).not.toContain('a text that was sent')
})
