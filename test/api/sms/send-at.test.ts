import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

const INVALID = 'Invalid sendAt'
const MINUTE_MS = 60_000

const inMs = (clock: ManualClock, ms: number): string => new Date(clock.now() + ms).toISOString()

const texts = (world: World): (string | null)[] =>
  world.control
    .messages({ direction: 'Outbound' })
    .map(({ text }) => text)
    .filter((text) => text?.startsWith('warm-up') !== true)

const post = (world: World, change: object, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body: 'Hello', ...change }, headers })

test('a scheduled message stays queued until its time and is then sent', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const later = await world.send({ body: 'later', sendAt: inMs(clock, 10 * MINUTE_MS) })
  const now = await world.send({ body: 'now' })
  await world.untilStatus(now, ['sent'])
  clock.advance(10 * MINUTE_MS - 1)
  expect(await world.status(later)).toMatchObject({ status: 'queued', error: null })
  expect(texts(world)).toEqual(['now'])
  clock.advance(1)
  expect(await world.untilStatus(later)).toMatchObject({ status: 'sent', updatedAt: inMs(clock, 0) })
  expect(texts(world)).toEqual(['now', 'later'])
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM jobs')).rows).toEqual([])
})

test('scheduled messages of a conversation are sent in the order of their times, after messages that were accepted before', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const ids = [
    await world.send({ body: 'third', sendAt: inMs(clock, 30_000) }),
    await world.send({ body: 'second', sendAt: inMs(clock, 20_000) }),
    await world.send({ body: 'fourth', sendAt: inMs(clock, 30_000) }),
    await world.send({ body: 'first' }),
  ]
  clock.advance(45_000)
  for (const id of ids) await world.untilStatus(id, ['sent'])
  expect(texts(world)).toEqual(['first', 'second', 'third', 'fourth'])
})

test('a sendAt in the past means now', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  for (const sendAt of [inMs(clock, 0), inMs(clock, -1), '1970-01-01T00:00:00Z', '0001-01-01T00:00:00Z'])
    await world.untilStatus(await world.send({ sendAt }), ['sent'])
})

test('sendAt is a date-time with offset at most 30 days ahead, and is checked last', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const days = 30 * 86_400_000
  const wrong = [null, '', ' ', 0, 1_800_000_000_000, true, [], {}, ['2026-11-21T03:00:00Z'], 'now', 'tomorrow']
  const malformed = [
    '2026-11-22',
    '2026-11-22T10:00:00',
    '2026-11-22 10:00:00Z',
    '2026-11-22T10:00:00 02:00',
    '2026-02-30T10:00:00Z',
    '2026-11-22T24:00:00Z',
    '2026-11-22T10:00:60Z',
    '2026-11-22T10:00:00+25:00',
    '+012026-11-22T10:00:00Z',
    ' 2026-11-22T10:00:00Z',
    '2026-11-22T10:00:00Z\n',
    '2026-11-22T10:00:00Z\u{0}',
    '２０２６-11-22T10:00:00Z',
    `2026-11-22T10:00:00.${'0'.repeat(50_000)}Z`,
  ]
  const far = [inMs(clock, days + 1), '9999-12-31T23:59:59Z']
  for (const sendAt of [...wrong, ...malformed, ...far]) await expectError(await post(world, { sendAt }), 400, INVALID)
  await expectError(await post(world, { sendAt: 1, body: '' }), 400, 'body must be 1-1600 characters')
  await expectError(
    await post(world, { sendAt: 1, userId: 1 }),
    400,
    'userId must be a string of at most 255 characters',
  )
  const badKey = await post(world, { sendAt: 1 }, { 'idempotency-key': 'ä b' })
  await expectError(badKey, 400, 'Idempotency-Key must be 1-255 visible ASCII characters')
  for (const sendAt of [inMs(clock, days), '2026-11-22T10:00+0530', '2026-11-22t10:00:00.123456789z'])
    expect((await post(world, { sendAt })).status).toBe(202)
  expect((await world.json('GET', '/v1/sms/messages')).body).toMatchObject({ total: 3 })
})

test('a scheduled message can be cancelled and leaves no job', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const cancelled = await world.send({ body: 'no', sendAt: inMs(clock, MINUTE_MS) })
  const kept = await world.send({ body: 'yes', sendAt: inMs(clock, MINUTE_MS) })
  expect((await world.call('DELETE', `/v1/sms/${cancelled}`)).status).toBe(200)
  const jobs = await world.gateway.database.gate.execute('SELECT subject FROM jobs')
  expect(jobs.rows.map(({ subject }) => subject)).toEqual([kept])
  clock.advance(MINUTE_MS)
  await world.untilStatus(kept, ['sent'])
  expect(texts(world)).toEqual(['yes'])
  expect(await world.status(cancelled)).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
  await expectError(await world.call('DELETE', `/v1/sms/${kept}`), 409, 'Message is already sent')
})

test('the queue age of a scheduled message counts from its sendAt', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { MAX_QUEUE_AGE: '1h' } })
  const id = await world.send({ body: 'late', sendAt: inMs(clock, 90 * MINUTE_MS) })
  clock.advance(90 * MINUTE_MS)
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})

test('sendAt is a part of the request that an Idempotency-Key identifies', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const sendAt = inMs(clock, MINUTE_MS)
  const key = (name: string): Record<string, string> => ({ 'idempotency-key': name })
  const first = await post(world, { sendAt }, key('a'))
  const again = await post(world, { sendAt }, key('a'))
  expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 202, 'true'])
  expect(await again.json()).toEqual(await first.json())
  const conflict = 'Idempotency-Key was used with a different request'
  await expectError(await post(world, {}, key('a')), 409, conflict)
  await expectError(await post(world, { sendAt: inMs(clock, MINUTE_MS + 1) }, key('a')), 409, conflict)
  expect((await post(world, {}, key('b'))).status).toBe(202)
  await expectError(await post(world, { sendAt }, key('b')), 409, conflict)
  // The same holds after the time has passed.
  clock.advance(2 * MINUTE_MS)
  const late = await post(world, { sendAt }, key('a'))
  expect([late.status, late.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect((await world.json('GET', '/v1/sms/messages')).body).toMatchObject({ total: 2 })
})
