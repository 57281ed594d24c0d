import { expect, test } from 'bun:test'
import { manualClock, type ManualClock } from '../../support/manual-clock.ts'
import { listenTo } from '../../support/socket.ts'
import { type World, type WorldOptions, createWorld, until } from '../../support/world.ts'

interface TimelineView {
  messageId: string
  status: string
  deliveryStatus: string | null
  waiting: { reason: string; until?: string } | null
  entries: Record<string, unknown>[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const timelineOf = async (world: World, messageId: string): Promise<TimelineView> =>
  (await world.json<TimelineView>('GET', `/v1/sms/${messageId}/timeline`)).body

/** The number of listings of outbound messages so far. */
const polls = (world: World): number =>
  world.control.requests({ route: 'message-store' }).filter(({ path }) => path.includes('direction=Outbound')).length

async function tracked(options: WorldOptions = {}): Promise<{ world: World; clock: ManualClock; messageId: string }> {
  const clock = manualClock()
  const world = await createWorld({ clock, ...options })
  const messageId = await world.send()
  await world.untilStatus(messageId, ['sent'])
  return { world, clock, messageId }
}

/** Advances the clock and waits for the poll that becomes due. */
async function poll(world: World, clock: ManualClock, ms: number): Promise<void> {
  const before = polls(world)
  clock.advance(ms)
  await until(() => polls(world) > before)
}

const untilKnown = (world: World, messageId: string, deliveryStatus: string): Promise<TimelineView> =>
  until(async () => {
    const timeline = await timelineOf(world, messageId)
    return timeline.deliveryStatus === deliveryStatus ? timeline : null
  })

test('the first poll after a delivery makes the message delivered, and its event goes to the app that sent it', async () => {
  const { world, clock, messageId } = await tracked()
  await using _ = world
  const { apiKey } = await world.secondApp()
  await using own = await listenTo(world.url, { apiKey: world.key })
  await using other = await listenTo(world.url, { apiKey })
  world.control.configure({ deliveredAfterMs: 5000 })
  const start = await world.json<{ cursor: string }>('GET', '/v1/events')
  const before = await timelineOf(world, messageId)
  expect(before).toMatchObject({ messageId, status: 'sent', deliveryStatus: 'pending', waiting: null })
  const state = await world.status(messageId)
  await poll(world, clock, 10_000)
  const { entries, ...after } = await untilKnown(world, messageId, 'delivered')
  expect(after).toEqual({ messageId, status: 'sent', deliveryStatus: 'delivered', waiting: null })
  expect(entries).toEqual([
    { at: '2026-11-21T02:30:00.000Z', type: 'queued' },
    { at: '2026-11-21T02:30:00.000Z', type: 'attempt', number: 1, outcome: 'accepted', durationMs: 0 },
    { at: '2026-11-21T02:30:00.000Z', type: 'sent', rcMessageId: expect.any(String) },
    { at: '2026-11-21T02:30:10.000Z', type: 'delivered' },
  ])
  expect(await world.status(messageId)).toEqual(state)
  await until(() => own.ofType('sms_delivery').length > 0)
  expect(own.ofType('sms_delivery')).toEqual([
    {
      type: 'sms_delivery',
      messageId,
      appId: world.app.appId,
      tenantId: world.tenantId,
      rcMessageId: state['rcMessageId'],
      deliveryStatus: 'delivered',
      timestamp: '2026-11-21T02:30:10.000Z',
    },
  ])
  expect(other.ofType('sms_delivery')).toEqual([])
  const logged = await world.json<{ events: { type: string }[] }>('GET', `/v1/events?after=${start.body.cursor}`)
  expect(logged.body.events).toEqual(own.ofType('sms_delivery') as { type: string }[])
  const others = await world.json('GET', `/v1/events?after=${start.body.cursor}`, { key: apiKey })
  expect(others.body['events']).toEqual([])
})

test.each([
  ['SendingFailed', 'SMS-RC-413', 'The recipient has opted out'],
  ['SendingFailed', 'SMS-UP-413', 'The recipient has opted out'],
  ['DeliveryFailed', 'SMS-CAR-430', 'Refused as spam'],
  ['DeliveryFailed', 'SMS-RC-403', 'The sending limit of the number was reached'],
  ['DeliveryFailed', 'SMS-RC-410', 'The number cannot receive messages'],
  ['DeliveryFailed', 'SMS-CAR-500', 'The provider failed to send it'],
  ['DeliveryFailed', 'SMS-XX-999', 'Not delivered (SMS-XX-999)'],
  ['DeliveryFailed', undefined, 'Not delivered'],
] as const)('an undelivered message says why: %p %p', async (messageStatus, code, reason) => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const deliveryErrorCode = code === undefined ? {} : { deliveryErrorCode: code }
  world.control.configure({ deliveredAfterMs: 8000 })
  world.control.planNextSms({ messageStatus, ...deliveryErrorCode })
  const messageId = await world.send()
  await world.untilStatus(messageId, ['sent'])
  await poll(world, clock, 10_000)
  const { entries } = await untilKnown(world, messageId, 'undelivered')
  const errorCode = code === undefined ? {} : { errorCode: code }
  expect(entries.at(-1)).toEqual({ at: '2026-11-21T02:30:10.000Z', type: 'undelivered', ...errorCode, reason })
  await until(() => socket.ofType('sms_delivery').length > 0)
  expect(socket.ofType('sms_delivery')).toEqual([
    expect.objectContaining({ messageId, deliveryStatus: 'undelivered', ...errorCode, reason }),
  ])
})

test('a message whose answer was lost becomes sent and undelivered if RingCentral could not deliver it', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  world.control.planNextSms({ messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-CAR-413' })
  world.control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
  const messageId = await world.send()
  await until(async () =>
    (await timelineOf(world, messageId)).entries.some(({ durationMs = null }) => durationMs !== null),
  )
  const { entries, ...state } = await until(async () => {
    clock.advance(1000)
    const timeline = await timelineOf(world, messageId)
    return timeline.deliveryStatus === 'undelivered' || timeline.status === 'failed' ? timeline : null
  })
  expect(state).toMatchObject({ status: 'sent', deliveryStatus: 'undelivered' })
  expect(entries.map(({ type, outcome }) => outcome ?? type)).toEqual(['queued', 'unknown', 'sent', 'undelivered'])
  expect(entries.at(-1)).toMatchObject({ errorCode: 'SMS-CAR-413', reason: 'The recipient has opted out' })
  expect((await world.json('GET', '/v1/opt-outs')).body).toMatchObject({ optOuts: [{ source: 'provider' }] })
})

test('a message is polled after 10 s, 30 s, 1, 2, 5, 10 and 30 minutes and then hourly, and its state is unknown after a day', async () => {
  const { world, clock, messageId } = await tracked()
  await using _ = world
  const start = clock.now()
  const ages = [10_000, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS]
  for (let hour = 1; hour <= 24; hour++) ages.push(hour * HOUR_MS)
  for (const [index, age] of ages.entries()) {
    clock.advance(start + age - 1 - clock.now())
    await world.status(messageId)
    expect(polls(world)).toBe(index)
    await poll(world, clock, 1)
    await until(() => world.gateway.receipts.inFlight === 0)
    expect(polls(world)).toBe(index + 1)
  }
  const { entries } = await untilKnown(world, messageId, 'unknown')
  expect(entries.map(({ type }) => type)).toEqual(['queued', 'attempt', 'sent'])
  const { rows } = await world.gateway.database.gate.execute('SELECT at, detail FROM events WHERE kinds = 32')
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { at: start + 24 * HOUR_MS, detail: '{"deliveryStatus":"unknown"}' },
  ])
  clock.advance(3 * HOUR_MS)
  await world.status(messageId)
  expect(polls(world)).toBe(ages.length)
})
