import { expect, test, spyOn } from 'bun:test'
import type { Config } from '../../../src/core/config.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/limits.ts'
import { LIST_TOO_LONG, type MessageQuery, type Provider } from '../../../src/provider/provider.ts'
import { silentLog } from '../../../src/core/log.ts'
import { runGateway } from '../../../src/server/run.ts'
import { purgeEvents } from '../../../src/messages/upkeep/purge-events.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { erase } from '../../../src/operator/erase.ts'
import { manualClock, type ManualClock } from '../../support/manual-clock.ts'
import { quarantine } from '../../support/quarantine.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, TO, World, createWorld, until } from '../../support/world.ts'

const outboundListings = (world: World): number =>
  world.control.requests({ route: 'message-store' }).filter(({ path }) => path.includes('direction=Outbound')).length

async function deliveryStatus(world: World, messageId: string, key = world.key): Promise<unknown> {
  return (await world.json('GET', `/v1/sms/${messageId}/timeline`, { key })).body['deliveryStatus']
}

const untilKnown = (world: World, messageId: string, status: string, key = world.key): Promise<true> =>
  until(async () => (await deliveryStatus(world, messageId, key)) === status)

async function states(world: World): Promise<Record<string, unknown>[]> {
  const { rows } = await world.gateway.database.gate.execute('SELECT conclusion, error_code FROM delivery_states')
  return rows.map((row) => ({ ...row }))
}

async function sentWorld(env: Record<string, string> = {}): Promise<{ world: World; clock: ManualClock; id: string }> {
  const clock = manualClock()
  const world = await createWorld({ clock, env })
  world.control.configure({ deliveredAfterMs: 5000 })
  const id = await world.send()
  await world.untilStatus(id, ['sent'])
  return { world, clock, id }
}

test('a delivery state is opened a second after the message was sent, long before the first poll', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  // The search at the start must not find the message.
  clock.advance(1)
  await world.gateway.receipts.findOpen()
  await world.untilStatus(await world.send(), ['sent'])
  clock.advance(999)
  expect(await states(world)).toEqual([])
  clock.advance(1)
  await until(async () => (await states(world)).length === 1)
  expect(outboundListings(world)).toBe(0)
})

/** Advances the clock in steps until a lookup has ended the message. */
const untilSent = (world: World, clock: ManualClock, messageId: string): Promise<true> =>
  until(async () => {
    if ((await world.status(messageId))['status'] === 'sent') return true
    clock.advance(500)
    return null
  }, 15_000)

/** Replaces the answers to listings of outbound messages. */
function changeListings(world: World, answer: (list: () => Listing, query: MessageQuery) => Listing): void {
  const { provider } = world.gateway
  const listMessages = provider.listMessages
  provider.listMessages = (token, query) => {
    const list = (): Listing => listMessages(token, query)
    return query.direction === 'Outbound' ? answer(list, query) : list()
  }
}

type Listing = ReturnType<Provider['listMessages']>

const failed = (code: string): Awaited<Listing> => ({
  ok: false,
  failure: {
    reason: 'ambiguous',
    status: null,
    code,
    message: '',
    oauthError: null,
    retryAfterMs: null,
    requestId: null,
  },
})

test('with tracking off nothing is polled or stored, and the delivery status is unknown', async () => {
  const { world, clock, id } = await sentWorld({ DELIVERY_TRACKING: 'off' })
  await using _ = world
  expect(await deliveryStatus(world, id)).toBe('unknown')
  clock.advance(DAY_MS)
  expect(await deliveryStatus(world, id)).toBe('unknown')
  expect(outboundListings(world)).toBe(0)
  expect(await states(world)).toEqual([])
  const { rows } = await world.gateway.database.gate.execute('SELECT 1 FROM events WHERE kinds = 32')
  expect(rows).toEqual([])
})

test('after tracking is switched off, known states are kept and others are unknown', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock, outside: true })
  first.control.configure({ deliveredAfterMs: 5000 })
  const known = await first.send()
  await first.untilStatus(known, ['sent'])
  clock.advance(10_000)
  await untilKnown(first, known, 'delivered')
  const open = await first.send()
  await first.untilStatus(open, ['sent'])
  await first.running.stop()
  const before = outboundListings(first)
  await using off = await restarted(first, clock, { deliveryTracking: false })
  clock.advance(60_000)
  expect(await deliveryStatus(off, known)).toBe('delivered')
  expect(await deliveryStatus(off, open)).toBe('unknown')
  await until(() => off.gateway.receipts.inFlight === 0)
  expect(outboundListings(first)).toBe(before)
})

const EVENTS_OF = `SELECT detail FROM events WHERE kinds = 32 AND subject = ?1`

async function conclusions(world: World, id: string): Promise<unknown[]> {
  const { rows } = await world.gateway.database.gate.execute({ sql: EVENTS_OF, args: [id] })
  return rows.map(({ detail }) => detail)
}

test('a message that became sent just before a stop of more than a day gets its event `unknown`', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock, outside: true })
  first.control.configure({ deliveredAfterMs: 100 * DAY_MS })
  await first.gateway.receipts.findOpen()
  const id = await first.send()
  await first.untilStatus(id, ['sent'])
  expect(await states(first)).toEqual([])
  await first.running.stop()
  clock.advance(25 * HOUR_MS)
  await using second = await restarted(first, clock)
  await until(async () => (await conclusions(second, id)).length > 0)
  expect(await conclusions(second, id)).toEqual(['{"deliveryStatus":"unknown"}'])
  expect(await deliveryStatus(second, id)).toBe('unknown')
})

test('a message of more than a day ago, sent while tracking was off, gets no event when it is switched on', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock, outside: true })
  await first.running.stop()
  const off = await restarted(first, clock, { deliveryTracking: false })
  const old = await off.send()
  await off.untilStatus(old, ['sent'])
  clock.advance(25 * HOUR_MS)
  const young = await off.send()
  await off.untilStatus(young, ['sent'])
  await off.running.stop()
  first.control.configure({ deliveredAfterMs: 5000 })
  clock.advance(60_000)
  await using on = await restarted(first, clock)
  await untilKnown(on, young, 'delivered')
  expect(await conclusions(on, old)).toEqual([])
})

test('a restart polls messages that were sent before it at once, with one listing', async () => {
  const clock = manualClock()
  await using simulated = await createWorld({ clock, outside: true })
  const ids = [await simulated.send(), await simulated.send({ to: '+15555550142' })]
  for (const id of ids) await simulated.untilStatus(id, ['sent'])
  await simulated.running.stop()
  simulated.control.configure({ deliveredAfterMs: 5000 })
  clock.advance(3 * 3_600_000)
  const before = outboundListings(simulated)
  await using second = await restarted(simulated, clock)
  for (const id of ids) await untilKnown(second, id, 'delivered')
  expect(outboundListings(simulated) - before).toBe(1)
})

/** Restarts the gateway with the same simulator. */
async function restarted(
  { gateway, control, folder, app }: World,
  clock: ManualClock,
  changes: Partial<Config> = {},
): Promise<World> {
  const config = { ...gateway.config, port: 0, ...changes }
  const running = await runGateway({ config, log: silentLog, clock })
  running.work()
  clock.advance(0)
  return new World(running, control, folder, app, false, null)
}

test('one listing concludes a burst, and with an extension of two tenants each sees its own messages', async () => {
  const clock = manualClock()
  const limits = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000' }
  await using world = await createWorld({ clock, env: limits })
  world.control.setLimits({ enabled: false })
  world.control.configure({ deliveredAfterMs: 5000 })
  const ids = await Promise.all(Array.from({ length: 200 }, (_, n) => world.send({ to: `+1555777${1000 + n}` })))
  for (const id of ids) await world.untilStatus(id, ['sent'])
  clock.advance(10_000)
  for (const id of ids) await untilKnown(world, id, 'delivered')
  expect(outboundListings(world)).toBe(1)
  const { tenantId, apiKey } = await world.otherTenant()
  await world.connect({ tenantId })
  const theirs = await world.send({}, { key: apiKey })
  await world.untilStatus(theirs, ['sent'], 5000, { key: apiKey })
  clock.advance(10_000)
  await untilKnown(world, theirs, 'delivered', apiKey)
})

test('polls of an extension of several tenants share its calls and take turns', async () => {
  const { world, clock, id } = await sentWorld()
  await using _ = world
  const { tenantId, apiKey } = await world.otherTenant()
  await world.connect({ tenantId })
  const theirs = await world.send({}, { key: apiKey })
  await world.untilStatus(theirs, ['sent'], 5000, { key: apiKey })
  clock.advance(10_000)
  await until(() => outboundListings(world) === 1 && world.gateway.receipts.inFlight === 0)
  expect(await deliveryStatus(world, theirs, apiKey)).toBe('pending')
  clock.advance(2999)
  expect(world.gateway.receipts.inFlight).toBe(0)
  clock.advance(1)
  await untilKnown(world, theirs, 'delivered', apiKey)
  await untilKnown(world, id, 'delivered')
  expect(outboundListings(world)).toBe(2)
})

test('a poll that hangs delays no send and no lookup', async () => {
  const { world, clock } = await sentWorld({ RECONCILE_SETTLE: '3s' })
  await using _ = world
  const hanging = Promise.withResolvers<void>()
  let isFirst = true
  changeListings(world, async (list) => {
    if (isFirst) {
      isFirst = false
      await hanging.promise
    }
    return list()
  })
  clock.advance(10_000)
  await until(() => world.gateway.receipts.inFlight === 1)
  await world.untilStatus(await world.send({ to: '+15555550142' }), ['sent'])
  world.control.fault({ route: 'sms', fault: { kind: 'reset' } })
  const unknown = await world.send({ to: '+15555550143' })
  await untilSent(world, clock, unknown)
  expect(world.gateway.receipts.inFlight).toBe(1)
  hanging.resolve()
})

test('a failed poll delays nothing, and the next one finds the missed changes', async () => {
  const { world, clock, id } = await sentWorld()
  await using _ = world
  let failures = 0
  changeListings(world, (list) => (failures++ === 0 ? Promise.resolve(failed('503')) : list()))
  clock.advance(10_000)
  await until(() => failures === 1 && world.gateway.receipts.inFlight === 0)
  expect(await deliveryStatus(world, id)).toBe('pending')
  await world.untilStatus(await world.send({ to: '+15555550142' }), ['sent'])
  clock.advance(20_000)
  await untilKnown(world, id, 'delivered')
})

test('a listing that is too long is shortened until it can be read', async () => {
  const { world, clock, id } = await sentWorld()
  await using _ = world
  const others = Array.from({ length: 120 }, (_n, index) => `+1555777${1000 + index}`)
  world.gateway.quota.extensionWaitMs = () => 0
  world.gateway.quota.numberWaitMs = () => 0
  world.control.setLimits({ enabled: false })
  for (const to of others) await world.send({ to })
  const sent = `SELECT count(*) AS count FROM messages WHERE status = 'sent'`
  await until(async () => (await world.gateway.database.gate.execute(sent)).rows[0]?.['count'] === 121)
  const spans: boolean[] = []
  changeListings(world, (list, query) => {
    spans.push(query.until === undefined)
    return query.until === undefined && !spans.includes(false) ? Promise.resolve(failed(LIST_TOO_LONG)) : list()
  })
  for (let turn = 0; turn < 60 && (await deliveryStatus(world, id)) !== 'delivered'; turn++) {
    clock.advance(10_000)
    await until(() => world.gateway.receipts.inFlight === 0)
  }
  expect(await deliveryStatus(world, id)).toBe('delivered')
  // The maximum is 5000, 2500, 1250, 625, 312 and 156 messages, then 78.
  expect(spans.slice(0, 7)).toEqual([true, true, true, true, true, true, false])
})

test('an old open message does not make a listing longer than the provider allows', async () => {
  const { world, clock, id } = await sentWorld()
  await using _ = world
  world.control.configure({ deliveredAfterMs: 40 * HOUR_MS })
  const pass = async (hours: number): Promise<void> => {
    for (let hour = 0; hour < hours; hour++) {
      clock.advance(HOUR_MS)
      await world.status(id)
      await until(() => world.gateway.receipts.inFlight === 0)
    }
  }
  const lengths: number[] = []
  changeListings(world, (list, query) => (lengths.push((query.until ?? clock.now()) - query.since), list()))
  await pass(10)
  const second = await world.send({ to: '+15555550777' })
  await world.untilStatus(second, ['sent'])
  await pass(3)
  const polls = lengths.length
  expect(polls).toBeGreaterThanOrEqual(10)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(6 * HOUR_MS + 3 * 60_000)
  world.control.configure({ deliveredAfterMs: 0 })
  await pass(2)
  expect(lengths.length).toBeGreaterThan(polls)
  await pass(12)
  expect(await states(world)).toMatchObject([{ conclusion: expect.any(String) }, { conclusion: expect.anything() }])
})

test('an erasure deletes the delivery state, and the timeline works without old attempts', async () => {
  const { world, clock, id } = await sentWorld()
  await using _ = world
  clock.advance(10_000)
  await untilKnown(world, id, 'delivered')
  clock.advance(8 * DAY_MS)
  await purgeMessages(world.gateway)
  const { body } = await world.json<{ entries: { type: string }[] }>('GET', `/v1/sms/${id}/timeline`)
  expect(body).toMatchObject({ status: 'sent', deliveryStatus: 'delivered' })
  expect(body.entries.map(({ type }) => type)).toEqual(['queued', 'sent', 'delivered'])
  await erase(world.gateway, { phone: TO, dryRun: false })
  expect(await states(world)).toEqual([])
  expect((await world.call('GET', `/v1/sms/${id}/timeline`)).status).toBe(404)
})

test('a message that a lookup found after a restore is tracked', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, env: { RECONCILE_SETTLE: '1s' } })
  const id = await world.send()
  const { extensionCalls, provider } = world.gateway
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  const key = { tenantId: world.tenantId, extensionId }
  await extensionCalls.make(key, 'medium', (token) => provider.sendSms(token, { from: FROM, to: TO, text: 'Hello' }))
  await quarantine(world)
  world.running.work()
  await untilSent(world, clock, id)
  expect(await deliveryStatus(world, id)).toBe('pending')
  world.control.configure({ deliveredAfterMs: 5000 })
  clock.advance(10_000)
  await untilKnown(world, id, 'delivered')
})

test('an opt-out that RingCentral reports is recorded, unless the recipient opted in later', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const start = await world.json<{ cursor: string }>('GET', '/v1/events')
  world.control.planNextSms({ messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-CAR-413', calls: 2 })
  const first = await world.send()
  const second = await world.send({ to: '+15555550142' })
  for (const id of [first, second]) await world.untilStatus(id, ['sent'])
  clock.advance(5000)
  await world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: '+15555550142', optedOut: true } })
  clock.advance(1000)
  await world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: '+15555550142', optedOut: false } })
  clock.advance(4000)
  for (const id of [first, second]) await untilKnown(world, id, 'undelivered')
  const { body } = await world.json('GET', '/v1/opt-outs')
  expect(body['optOuts']).toEqual([
    { number: FROM, contact: TO, source: 'provider', since: new Date(clock.now()).toISOString() },
  ])
  await until(() => socket.ofType('opt_out').length === 3)
  expect(socket.ofType('opt_out').at(-1)).toMatchObject({ contact: TO, optedOut: true, source: 'provider' })
  const logged = await world.json<{ events: { type: string; contact?: string; messageId?: string }[] }>(
    'GET',
    `/v1/events?after=${start.body.cursor}`,
  )
  const optOutEvents = logged.body.events.filter(({ messageId, contact }) => messageId === first || contact === TO)
  expect(optOutEvents.map(({ type }) => type).slice(-2)).toEqual(['sms_delivery', 'opt_out'])
})

test('a purge of events between `sent` and the first poll loses no delivery state', async () => {
  const { world, clock, id: first } = await sentWorld({ EVENT_RETENTION: '1s' })
  await using _ = world
  // The start has opened the delivery state of the first message. The newest event is never purged.
  clock.advance(10_000)
  await untilKnown(world, first, 'delivered')
  const id = await world.send({ body: 'another' })
  await world.untilStatus(id, ['sent'])
  await world.untilStatus(await world.send({ body: 'a third' }), ['sent'])
  clock.advance(5000)
  await purgeEvents(world.gateway)
  clock.advance(25_000)
  await untilKnown(world, id, 'delivered')
})

test('simultaneous polls of many extensions open the delivery states of sent messages with one run', async () => {
  const { world } = await sentWorld()
  await using _ = world
  const write = spyOn(world.gateway.database.writer, 'write')
  await Promise.all(Array.from({ length: 8 }, () => world.gateway.receipts.startTracking()))
  const runs = write.mock.calls.filter(([[first]]) => first?.sql.startsWith('INSERT INTO delivery_states'))
  expect(runs).toHaveLength(1)
  expect(await states(world)).toHaveLength(1)
})

test('hanging polls of one tenant’s extensions do not delay those of another tenant', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  world.control.configure({ deliveredAfterMs: 5000 })
  for (let index = 0; index < 9; index++) {
    const from = `+155555560${10 + index}`
    const { extensionId } = world.control.addExtension({ name: from, numbers: [from] })
    await world.connect({ extensionId })
    world.control.fault({ route: 'message-store', extensionId, calls: null, fault: { kind: 'hang' } })
    await world.untilStatus(await world.send({ from }), ['sent'])
  }
  const other = await world.otherTenant()
  const { extensionId } = world.control.addExtension({ name: 'Other', numbers: ['+15555550300'] })
  await world.connect({ tenantId: other.tenantId, extensionId })
  const options = { key: other.apiKey }
  const id = await world.send({ from: '+15555550300' }, options)
  await world.untilStatus(id, ['sent'], 5000, options)
  clock.advance(10_000)
  await untilKnown(world, id, 'delivered', other.apiKey)
  expect(world.gateway.receipts.inFlight).toBe(4)
})
