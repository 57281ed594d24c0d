import { expect, test } from 'bun:test'
import { erase } from '../../../src/operator/erase.ts'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { cursorAt } from '../../support/cursor-at.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { NO_KEYWORDS, formsOf } from '../../support/keyword-forms.ts'
import { postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

interface Listed {
  number: string
  contact: string
  source: string
  since: string
}

const listed = async (world: World, key = world.key): Promise<Listed[]> =>
  (await world.json<{ optOuts: Listed[] }>('GET', '/v1/opt-outs', { key })).body.optOuts

let lastId = 0

/** Stores an inbound text of the contact. `at` is its time by the provider's clock, in seconds. */
const text = (world: World, body: string, at: number, pair: { from?: string; to?: string } = {}): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId: world.tenantId,
    extensionId: '1',
    providerMessageId: String(++lastId),
    from: TO,
    to: FROM,
    text: body,
    createdAt: 1_000_000 + at * 1000,
    ...pair,
  })

const eventsOf = async (world: World): Promise<unknown[]> => {
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT detail, at, opt_outs.contact FROM events JOIN opt_outs ON opt_outs.id = events.subject WHERE kinds = 64 ORDER BY events.seq',
  )
  return rows.map((row) => [row['contact'], JSON.parse(String(row['detail']))])
}

test('a STOP is listed, published to every app of the tenant, and written to the event log once', async () => {
  await using world = await createWorld({ connect: false })
  const second = await world.secondApp()
  const stranger = await world.otherTenant()
  await using own = await listenTo(world.url, { apiKey: world.key })
  await using other = await listenTo(world.url, { apiKey: second.apiKey })
  await using foreign = await listenTo(world.url, { apiKey: stranger.apiKey })
  const token = await subscribe(world)
  const stop = smsEvent({ from: { phoneNumber: TO }, subject: 'Stop.' })
  for (const _ of [1, 2]) expect((await postEvent(world, token, stop)).status).toBe(200)
  await postEvent(world, token, smsEvent({ id: '3062991599017', from: { phoneNumber: TO }, subject: 'STOP' }))
  const [optOut] = await listed(world)
  expect(optOut).toEqual({ number: FROM, contact: TO, source: 'keyword', since: expect.any(String) })
  const event = {
    type: 'opt_out',
    tenantId: world.tenantId,
    number: FROM,
    contact: TO,
    optedOut: true,
    source: 'keyword',
    timestamp: optOut?.since,
  }
  await until(() => other.ofType('sms_inbound').length === 2 && own.ofType('sms_inbound').length === 2)
  expect(own.ofType('opt_out')).toEqual([event])
  expect(other.ofType('opt_out')).toEqual([event])
  expect(foreign.ofType('opt_out')).toEqual([])
  expect(await listed(world, stranger.apiKey)).toEqual([])
  expect(await eventsOf(world)).toEqual([[TO, { optedOut: true, source: 'keyword' }]])
  const logged = async (key: string): Promise<unknown[]> => {
    const path = `/v1/events?after=${await cursorAt(world, 0)}`
    return (await world.json<{ events: { type: string }[] }>('GET', path, { key })).body.events
  }
  const received = own.messages.filter(({ type }) => type === 'sms_inbound' || type === 'opt_out')
  expect(await logged(second.apiKey)).toEqual(received)
  expect(received.map(({ type }) => type)).toEqual(['sms_inbound', 'opt_out', 'sms_inbound'])
  expect(await logged(stranger.apiKey)).toEqual([])
})

test('hundreds of ways to write STOP and RESUME are recorded, and texts that are neither are not', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const token = await subscribe(world)
  const post = async (subject: string, index: number): Promise<void> => {
    const event = smsEvent({ id: `${++lastId}`, from: { phoneNumber: contactAt(index) }, subject })
    expect((await postEvent(world, token, event)).status).toBe(200)
  }
  const total = async (): Promise<unknown> => (await world.json('GET', '/v1/opt-outs')).body['total']
  const stops = formsOf('STOP')
  expect(stops.length).toBeGreaterThan(200)
  await Promise.all(stops.map(post))
  expect(await total()).toBe(stops.length)
  await Promise.all(NO_KEYWORDS.map(post))
  expect(await total()).toBe(stops.length)
  await Promise.all(formsOf('RESUME').map(post))
  expect(await total()).toBe(0)
  await Promise.all(NO_KEYWORDS.map(post))
  expect(await total()).toBe(0)
})

const contactAt = (index: number): string => `+1555600${String(index).padStart(4, '0')}`

test('the latest keyword by the provider’s time counts, in whatever order keywords arrive', async () => {
  const words = ['STOP', 'START', 'STOP', 'UNSTOP']
  const orders = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 0, 2],
    [2, 0, 1],
    [1, 0],
    [0, 2, 1],
  ]
  await using world = await createWorld({ connect: false, work: false })
  for (const [index, order] of orders.entries()) {
    const contact = `+155555501${20 + index}`
    // The keywords arrive together, so that some share a commit.
    await Promise.all(order.map((one) => text(world, words[one] ?? '', one, { from: contact })))
    const isOut = (await listed(world)).some((optOut) => optOut.contact === contact)
    expect([order, isOut]).toEqual([order, Math.max(...order) % 2 === 0])
  }
})

test('a START of a contact that never opted out changes nothing, and overrides an older STOP', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await text(world, 'START', 20)
  await text(world, 'STOP', 10)
  expect(await listed(world)).toEqual([])
  expect(await eventsOf(world)).toEqual([])
})

test('an opt-out applies to one pair of numbers, and `since` does not change with a repetition', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await text(world, 'STOP', 10)
  const [first] = await listed(world)
  await Bun.sleep(2)
  await text(world, 'END', 20)
  expect(await listed(world)).toEqual([first!])
  await text(world, 'START', 30, { to: FROM_2 })
  expect(await listed(world)).toEqual([first!])
  await text(world, 'START', 30)
  expect(await listed(world)).toEqual([])
  expect(await eventsOf(world)).toHaveLength(2)
})

test('a sender without a number cannot opt out, and a repeated message changes nothing', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await text(world, 'STOP', 10, { from: 'anonymous' })
  await text(world, 'STOP', 10, { to: 'unknown' })
  await text(world, 'STOP', 10, { from: '12345' })
  expect(await listed(world)).toEqual([])
  await text(world, 'STOP', 10)
  await world.json('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut: false } })
  lastId--
  expect(await text(world, 'STOP', 9e9)).toBe(false)
  expect(await listed(world)).toEqual([])
})

test('a STOP counts if it arrives in the same second as an opt-in by an app, because RingCentral dates messages by whole seconds', async () => {
  const clock = manualClock()
  clock.advance(400)
  await using world = await createWorld({ clock, connect: false, work: false })
  await world.json('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut: false } })
  clock.advance(200)
  const second = Math.floor(clock.now() / 1000)
  await text(world, 'STOP', second - 1000)
  expect(await listed(world)).toMatchObject([{ contact: TO, source: 'keyword' }])
})

test('a STOP that a back-fill finds counts from its own time', async () => {
  await using world = await createWorld({ outside: true })
  await text(world, 'START', -1e6)
  const { messageId } = await world.control.injectSms({ to: FROM, from: TO, text: 'STOP' })
  expect(messageId).toBeString()
  await until(async () => (await listed(world)).length === 1)
})

test('an erasure deletes the opt-outs of a contact and their events', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await text(world, 'STOP', 10)
  await text(world, 'STOP', 10, { from: '+15555550177' })
  await erase(world.gateway, { phone: TO })
  expect((await listed(world)).map(({ contact }) => contact)).toEqual(['+15555550177'])
  expect(await eventsOf(world)).toHaveLength(1)
})

test('a text with a time in the far future does not make later ones count as older', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const now = clock.now() / 1000 - 1000
  await text(world, 'START', now + 10 * 365 * 86_400)
  clock.advance(3_600_000)
  await text(world, 'STOP', now + 3600)
  expect(await listed(world)).toMatchObject([{ contact: TO, source: 'keyword' }])
})
