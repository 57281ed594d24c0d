import { expect, test } from 'bun:test'
import { segmentsOf } from '../../../src/client/segments.ts'
import { erase } from '../../../src/operator/erase.ts'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ERASED = '+15555550444'

interface Day {
  date: string
  appId: string
  sent: number
  failed: number
  received: number
  segments: number
  media: number
}

const usage = async (world: World, query = '', key = world.key): Promise<Day[]> =>
  (await world.json<{ days: Day[] }>('GET', `/v1/usage${query}`, { key })).body.days

/** Counts the messages by SQL. */
async function counted({ gateway, tenantId }: World): Promise<Day[]> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT app_id, status, body, attachments, date(updated_at / 1000, 'unixepoch') AS day FROM messages WHERE tenant_id = ?1`,
    args: [tenantId],
  })
  const days = new Map<string, Day>()
  for (const row of rows) {
    const [date, appId, status] = [String(row['day']), String(row['app_id']), String(row['status'])]
    const day = days.get(`${date} ${appId}`) ?? { date, appId, sent: 0, failed: 0, received: 0, segments: 0, media: 0 }
    if (status === 'sent' || status === 'failed' || status === 'received') day[status]++
    if (status === 'sent') day.segments += segmentsOf(String(row['body']))
    if (status === 'sent' && row['attachments'] !== null) day.media++
    days.set(`${date} ${appId}`, day)
  }
  return [...days.values()].toSorted((a, b) => b.date.localeCompare(a.date) || a.appId.localeCompare(b.appId))
}

/** The end of a message. Time passes until then, because a message that cannot start now is tried again later. */
const endOf = (world: World, clock: ManualClock, id: string): Promise<string> =>
  until(async () => {
    const { status } = await world.status(id)
    if (status === 'sent' || status === 'failed') return status
    clock.advance(SECOND_MS)
    return null
  })

test('usage equals a count by SQL over two days, and an erasure does not change it', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  await world.gateway.database.gate.execute('DELETE FROM usage')
  const second = (await world.secondApp()).apiKey
  const bodies = ['short', 'a'.repeat(200), 'ж'.repeat(100), '€'.repeat(90)]
  const ends: string[] = []
  for (let hour = 0; hour < 25; hour++) {
    const key = hour % 3 === 0 ? second : world.key
    const sendAt = hour % 5 === 0 ? { sendAt: new Date(clock.now() + 2 * HOUR_MS).toISOString() } : {}
    const to = hour % 4 === 0 ? ERASED : TO
    const headers = hour % 2 === 0 ? { 'idempotency-key': `key-${hour}` } : {}
    const message = { to, body: bodies[hour % bodies.length] ?? '', ...sendAt }
    const id = await world.send(message, { key, headers })
    if (hour % 2 === 0) expect(await world.send(message, { key, headers })).toBe(id)
    if (hour === 10) expect((await world.call('DELETE', `/v1/sms/${id}`)).status).toBe(200)
    else if (hour % 5 !== 0) expect(await endOf(world, clock, id)).toBe('sent')
    if (hour % 6 === 0)
      expect(await endOf(world, clock, await world.send({ from: '+15555550777' }, { key }))).toBe('failed')
    if (hour % 7 === 0) await world.control.injectSms({ from: ERASED, to: FROM, text: `Hi ${hour}` })
    ends.push(id)
    clock.advance(HOUR_MS)
  }
  clock.advance(3 * HOUR_MS)
  for (const id of ends) await endOf(world, clock, id)
  const expected = await counted(world)
  expect(new Set(expected.map(({ date }) => date)).size).toBe(2)
  expect(await usage(world)).toEqual(expected)
  const { messages } = await erase(world.gateway, { phone: ERASED })
  expect(messages).toBeGreaterThan(8)
  expect(await counted(world)).not.toEqual(expected)
  expect(await usage(world)).toEqual(expected)
})

test('usage can be filtered by days and by app', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const first = await world.secondApp()
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  expect(await endOf(world, clock, await world.send({}, { key: first.apiKey }))).toBe('sent')
  const day = { date: today, appId: first.appId, sent: 1, failed: 0, received: 0, segments: 1, media: 0 }
  const warmUp = { ...day, appId: world.app.appId }
  const both = [day, warmUp].toSorted((a, b) => a.appId.localeCompare(b.appId))
  expect(await usage(world)).toEqual(both)
  expect(await usage(world, `?appId=${first.appId}`)).toEqual([day])
  expect(await usage(world, `?startDate=${today}&endDate=${today}&appId=`)).toEqual(both)
  const other = await world.otherTenant()
  expect(await usage(world, `?appId=${other.appId}`)).toEqual([])
  expect(await usage(world, `?appId=${first.appId}`, other.apiKey)).toEqual([])
  expect(await usage(world, '', other.apiKey)).toEqual([])
  expect(await usage(world, `?startDate=2026-11-01&endDate=2026-11-20`)).toEqual([])
  // The default is the last thirty days, including today.
  clock.advance(29 * DAY_MS)
  expect(await usage(world)).toEqual(both)
  clock.advance(DAY_MS)
  expect(await usage(world)).toEqual([])
})

test('a range may have at most 92 days', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const get = (query: string): Promise<Response> => world.call('GET', `/v1/usage?${query}`)
  expect((await get('startDate=2026-01-01&endDate=2026-04-02')).status).toBe(200)
  expect((await get('startDate=2026-04-02&endDate=2026-04-01')).status).toBe(200)
  for (const query of [
    'startDate=2026-01-01&endDate=2026-04-03',
    'startDate=0001-01-01',
    'startDate=x',
    'startDate=2026-01-01T10:00',
  ])
    await expectError(await get(query), 400, 'Invalid startDate')
  await expectError(await get('endDate=2026-02-30'), 400, 'Invalid endDate')
})

test('an inbound message that arrives again is counted once', async () => {
  await using world = await createWorld({ clock: manualClock() })
  const token = await subscribe(world)
  for (const id of ['1', '1', '2']) expect((await postEvent(world, token, smsEvent({ id }))).status).toBe(200)
  expect((await usage(world)).map(({ received }) => received)).toEqual([2])
})
