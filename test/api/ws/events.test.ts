import { expect, test } from 'bun:test'
import { systemClock } from '../../../src/core/clock.ts'
import { type SocketClient, type SocketMessage, listenTo } from '../../support/socket.ts'
import { FROM, TO, createWorld, until } from '../../support/world.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const statuses = (socket: SocketClient, messageId: string): unknown[] =>
  socket
    .ofType('sms_status')
    .filter((event) => event['messageId'] === messageId)
    .map((event) => event['status'])

test('a sent message has the events queued, sending and sent, each with the fields of the contract', async () => {
  let last = 0
  // This clock never returns the same time twice.
  const now = (): number => (last = Math.max(last + 1, Date.now()))
  await using world = await createWorld({ clock: { ...systemClock, now } })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const messageId = await world.send()
  const [, ...events] = await socket.received(4)
  const state = await world.untilStatus(messageId)
  const event = (status: string): SocketMessage => ({
    type: 'sms_status',
    messageId,
    appId: world.app.appId,
    tenantId: world.tenantId,
    status,
    timestamp: expect.stringMatching(ISO) as unknown,
  })
  expect(events).toEqual([event('queued'), event('sending'), { ...event('sent'), rcMessageId: state['rcMessageId'] }])
  expect(events[0]?.['timestamp']).toBe(state['createdAt'])
  expect(events[2]?.['timestamp']).toBe(state['updatedAt'])
})

test('a failed message has the events queued, sending and failed, with its error', async () => {
  await using world = await createWorld()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const messageId = await world.send({ from: '+15555550160' })
  const [, ...events] = await socket.received(4)
  expect(events.map((event) => event['status'])).toEqual(['queued', 'sending', 'failed'])
  expect(events[2]).toEqual({
    type: 'sms_status',
    messageId,
    appId: world.app.appId,
    tenantId: world.tenantId,
    status: 'failed',
    error: 'Phone number +15555550160 is not registered in this provider account',
    timestamp: expect.stringMatching(ISO),
  })
})

test('each of many simultaneous messages has its events in order', async () => {
  await using world = await createWorld()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => world.send({ body: `number ${index}` })))
  await socket.received(1 + 3 * ids.length, 10_000)
  for (const id of ids) expect(statuses(socket, id)).toEqual(['queued', 'sending', 'sent'])
})

test("status events go to the message's app, inbound events to every app of the tenant, and none to other tenants", async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  const stranger = await world.otherTenant()
  await using own = await listenTo(world.url, { apiKey: world.key })
  await using other = await listenTo(world.url, { apiKey: second.apiKey })
  await using outside = await listenTo(world.url, { apiKey: stranger.apiKey })
  await world.send()
  await own.received(4)
  const { messageId, extensionId } = await world.control.injectSms({ from: TO, to: FROM, text: 'an answer' })
  const inbound = {
    type: 'sms_inbound',
    messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/),
    from: TO,
    to: FROM,
    body: 'an answer',
    rcMessageId: messageId,
    tenantId: world.tenantId,
    timestamp: expect.stringMatching(ISO),
    receivingExtensionId: extensionId,
  }
  expect((await own.received(5))[4]).toEqual(inbound)
  expect(await other.received(2)).toEqual([{ type: 'auth_ok' }, inbound])
  await using late = await listenTo(world.url, { apiKey: stranger.apiKey })
  for (const socket of [outside, late]) expect(socket.messages).toEqual([{ type: 'auth_ok' }])
})

test('all sockets of an app get the same events, also after one of them has closed', async () => {
  await using world = await createWorld()
  await using first = await listenTo(world.url, { apiKey: world.key })
  const second = await listenTo(world.url, { apiKey: world.key })
  await second[Symbol.asyncDispose]()
  await using third = await listenTo(world.url, { apiKey: world.key })
  await world.control.injectSms({ text: 'hello' })
  expect((await first.received(2))[1]).toEqual((await third.received(2))[1])
})

test('a socket that connects after all others have closed gets each event once', async () => {
  await using world = await createWorld()
  const { hub, sockets } = world.gateway
  for (let round = 0; round < 2; round++) {
    const socket = await listenTo(world.url, { apiKey: world.key })
    await socket[Symbol.asyncDispose]()
    await until(() => sockets.count === 0)
    expect(hub.hasListeners).toBe(false)
  }
  await using last = await listenTo(world.url, { apiKey: world.key })
  for (const text of ['one', 'two']) await world.control.injectSms({ text })
  expect((await last.received(3)).slice(1)).toMatchObject([{ body: 'one' }, { body: 'two' }])
})

test('messages after authentication are ignored', async () => {
  await using world = await createWorld()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const chatter = [
    'hello',
    '{broken',
    '',
    { type: 'auth', apiKey: 'wrong' },
    { type: 'ping' },
    new Uint8Array(16_000),
    'x'.repeat(16_000),
  ]
  for (const message of chatter) socket.send(message)
  for (let count = 0; count < 200; count++) socket.send({ type: 'subscribe', tenantId: '*' })
  await world.control.injectSms({ text: 'still here' })
  const received = await socket.received(2)
  expect(received.map((message) => message['type'])).toEqual(['auth_ok', 'sms_inbound'])
  expect(socket.isOpen).toBe(true)
})

test('a token authenticates as the app that requested it', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  const { token } = (await world.json<{ token: string }>('POST', '/v1/ws/token', { key: second.apiKey })).body
  await using socket = await listenTo(world.url, { token })
  await world.send()
  const own = await world.send({}, { key: second.apiKey })
  const events = await socket.received(4)
  expect(new Set(events.slice(1).map((event) => event['messageId']))).toEqual(new Set([own]))
})
