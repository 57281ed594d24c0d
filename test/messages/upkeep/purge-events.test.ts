import { expect, spyOn, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS } from '../../../src/core/limits.ts'
import { erase } from '../../../src/operator/erase.ts'
import { purgeEvents } from '../../../src/messages/upkeep/purge-events.ts'
import { cursorAt } from '../../support/cursor-at.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { TO, type World, createWorld, until } from '../../support/world.ts'

interface Page {
  events: { messageId: string }[]
  cursor: string
  gap: boolean
}

const page = async (world: World, cursor?: string, limit = 100): Promise<Page> =>
  (await world.json<Page>('GET', `/v1/events?limit=${limit}${cursor === undefined ? '' : `&after=${cursor}`}`)).body

const countRows = async (world: World): Promise<number> =>
  Number((await world.gateway.database.gate.execute('SELECT count(*) AS n FROM events')).rows[0]?.['n'])

/** The purge pauses between its commits. */
async function passingTime<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => (isDone = true))
  await until(() => {
    clock.advance(20)
    return isDone
  })
  return done
}

/** A gateway that sends nothing, so that each message has one event. */
const quietWorld = (clock = manualClock()) => createWorld({ connect: false, work: false, clock })

test('events older than EVENT_RETENTION are deleted in small commits; a cursor before them has a gap, and a later one has none', async () => {
  const clock = manualClock()
  await using world = await quietWorld(clock)
  const { cursor } = await page(world)
  for (let count = 0; count < 1201; count++)
    await world.gateway.database.writer.write([
      { sql: `INSERT INTO events (kinds, subject, at) VALUES (1, 'msg_1', ?1)`, args: [clock.now()] },
    ])
  await world.send()
  const later = await page(world)
  clock.advance(72 * HOUR_MS)
  expect(await purgeEvents(world.gateway)).toBe(0)
  clock.advance(1)
  const kept = await world.send()
  const write = spyOn(world.gateway.database.writer, 'write')
  expect(await passingTime(clock, purgeEvents(world.gateway))).toBe(1202)
  const deletions = write.mock.calls.filter(([[first]]) => first?.sql.startsWith('DELETE FROM events'))
  expect(deletions).toHaveLength(3)
  const missed = await page(world, cursor)
  expect(missed).toMatchObject({ gap: true, events: [{ messageId: kept }] })
  expect(await page(world, later.cursor)).toMatchObject({ events: missed.events, gap: false })
  expect(await page(world, missed.cursor)).toMatchObject({ events: [], gap: false })
})

test('the newest event is kept, so that cursors stay valid', async () => {
  const clock = manualClock()
  await using world = await quietWorld(clock)
  await world.send()
  const { cursor } = await page(world)
  clock.advance(100 * HOUR_MS)
  await purgeEvents(world.gateway)
  expect(await countRows(world)).toBe(1)
  const next = await world.send()
  expect(await page(world, cursor)).toMatchObject({ gap: false, events: [{ messageId: next }] })
})

test('rows from a time when the clock was ahead are deleted with their neighbours', async () => {
  const clock = manualClock()
  await using world = await quietWorld(clock)
  for (const ahead of [0, 1000 * HOUR_MS, 0, 0])
    await world.gateway.database.writer.write([
      { sql: `INSERT INTO events (kinds, subject, at) VALUES (1, 'msg_1', ?1)`, args: [clock.now() + ahead] },
    ])
  clock.advance(73 * HOUR_MS)
  expect(await purgeEvents(world.gateway)).toBe(3)
})

test('the purge runs by itself, ten times per retention and at least every five minutes', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock, env: { EVENT_RETENTION: '10s' } })
  for (let count = 0; count < 3; count++) await world.send()
  const start = clock.now()
  // Without a provider nothing confirms the clock, so the first purges wait.
  await until(async () => {
    clock.advance(20_000)
    return (await countRows(world)) === 1
  })
  expect(clock.now() - start).toBeGreaterThan(10_000)
})

test('events of messages with a shorter retention are deleted with them', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock, env: { MESSAGE_RETENTION_DAYS: '1' } })
  for (let count = 0; count < 2; count++) await world.send()
  clock.advance(25 * HOUR_MS)
  expect(await purgeEvents(world.gateway)).toBe(1)
})

test('a cursor beyond the newest event has a gap', async () => {
  await using world = await quietWorld()
  const messageId = await world.send()
  expect(await page(world, await cursorAt(world, 2))).toMatchObject({
    gap: true,
    events: [{ messageId }],
  })
})

test('after a restore from a backup every older cursor has a gap, and the log begins with the oldest kept event', async () => {
  const first = await createWorld({ connect: false, work: false })
  const messageId = await first.send()
  const { cursor } = await page(first)
  await first.running.stop()
  rmSync(join(first.folder, 'sgw.db.mark'))
  await using world = await createWorld({ connect: false, work: false, folder: first.folder })
  const key = first.key
  const { body } = await world.json<Page>('GET', `/v1/events?after=${cursor}`, { key })
  expect(body).toMatchObject({ gap: true, events: [{ messageId }] })
  const again = await world.json<Page>('GET', `/v1/events?after=${body.cursor}`, { key })
  expect(again.body).toMatchObject({ gap: false, events: [] })
  rmSync(first.folder, { recursive: true, force: true })
})

test("an erasure deletes a contact's events without a gap, and they never belong to a later message", async () => {
  await using world = await createWorld()
  const { cursor } = await page(world)
  const kept = await world.send({ to: '+15555550177' })
  await world.untilStatus(kept)
  const erased = await world.send()
  await world.untilStatus(erased)
  await erase(world.gateway, { phone: TO })
  // The later message gets the row number of the erased one.
  const later = await world.send({ to: '+15555550178' })
  await world.untilStatus(later)
  const { events, gap } = await page(world, cursor)
  expect(gap).toBe(false)
  expect(events.map((event) => event.messageId)).toEqual([kept, kept, kept, later, later, later])
})
