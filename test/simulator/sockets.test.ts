import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { until } from '../support/world.ts'
import { ALICE, answer, BOB, codes, SELF, smsBody, startHarness } from './harness.ts'
import { INSTANT, openSocket, SocketClient, ticketOf } from './socket-client.ts'

test('a socket begins with its details, subscribes, and brings each event once', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  const [meta, details] = await socket.found('ConnectionDetails')
  expect(meta).toMatchObject({ status: 200, wsc: { token: expect.stringMatching(/^[\w-]{20,}$/), sequence: 1 } })
  expect(details as unknown).toEqual({
    creationTime: '2026-11-21T02:30:00.000Z',
    maxConnectionsPerSession: 50,
    recoveryBufferSize: 100,
    recoveryTimeout: 180,
    idleTimeout: 1800,
    absoluteTimeout: 86_400,
    maxActiveRequests: 10,
  })
  const [answered, made] = await socket.subscribe()
  expect(answered).toMatchObject({ type: 'ClientRequest', status: 200 })
  expect(answered.headers).toMatchObject({ 'X-Rate-Limit-Group': 'medium', 'X-Rate-Limit-Remaining': '39' })
  expect(made).toMatchObject({ status: 'Active', deliveryMode: { transportType: 'WebSocket' } })
  const { messageId, deliveries } = await harness.control.injectSms({ to: ALICE, text: 'Over the socket' })
  expect(deliveries).toEqual([{ subscriptionId: made.id, outcome: 'delivered', status: 200 }])
  const [notified, event] = await socket.found('ServerNotification')
  expect(event).toMatchObject({ subscriptionId: made.id, ownerId: harness.alice, body: { id: messageId } })
  expect([notified.status, notified.messageId]).toEqual([200, String(event['uuid'])])
  expect(socket.events).toEqual(['Over the socket'])
  expect(harness.control.sockets()).toMatchObject([{ extensionId: harness.alice, subscriptionId: made.id }])
  expect(harness.control.subscriptions()).toMatchObject([{ transport: 'WebSocket', address: '' }])
  expect(harness.published.compared.events).toBe(1)
})

test('a ticket opens one connection within 30 seconds', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const { uri, ws_access_token, expires_in } = await ticketOf(harness, access_token)
  expect([uri, expires_in]).toEqual([expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/ws$/), 30])
  expect(new URL(uri).port).not.toBe(new URL(harness.simulator.url).port)
  using first = new SocketClient(`${uri}?access_token=${ws_access_token}`)
  await first.found('ConnectionDetails')
  const late = await ticketOf(harness, access_token)
  for (const ticket of [ws_access_token, 'x', late.ws_access_token]) {
    if (ticket === late.ws_access_token) harness.clock.advance(30_000)
    const status = (await fetch(`${uri.replace('ws:', 'http:')}?access_token=${ticket}`)).status
    using refused = new SocketClient(`${uri}?access_token=${ticket}`)
    expect([status, (await refused.untilClosed()).code]).toEqual([401, 1006])
  }
  using without = new SocketClient(uri)
  expect((await without.untilClosed()).code).toBe(4400)
  expect(first.closed).toBeNull()
  expect(harness.control.requests({ route: 'socket' }).map(({ status }) => status)).toContain(101)
  expect(JSON.stringify(harness.control.requests())).not.toContain(ws_access_token)
  expect(JSON.stringify(harness.control.calls())).not.toContain(ws_access_token)
})

test('a ticket that is used again may also end the socket that it has opened', async () => {
  await using harness = await startHarness()
  harness.control.configure({ ticketReuse: 'replaces' })
  const { access_token } = await harness.login()
  const { uri, ws_access_token } = await ticketOf(harness, access_token)
  using first = new SocketClient(`${uri}?access_token=${ws_access_token}`)
  await first.found('ConnectionDetails')
  using second = new SocketClient(`${uri}?access_token=${ws_access_token}`)
  await second.found('ConnectionDetails')
  expect((await first.untilClosed()).code).toBe(1000)
  expect(second.closed).toBeNull()
})

test('tickets share five a minute with logins, and need the permission', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const ask = () => {
    const headers = { authorization: `Bearer ${access_token}` }
    return answer(fetch(`${harness.simulator.url}/restapi/oauth/wstoken`, { method: 'POST', headers }))
  }
  const left = [await ask(), await ask(), await ask(), await ask()].map(({ headers }) => headers)
  expect(left.map((one) => one.get('x-rate-limit-remaining'))).toEqual(['3', '2', '1', '0'])
  const refused = await ask()
  expect([...codes(refused), refused.headers.get('retry-after')]).toEqual([429, 'CMN-301', '60'])
  harness.clock.advance(60_000)
  harness.control.configure({ permissions: ['SMS', 'ReadAccounts', 'SubscriptionWebhook'] })
  const missing = await ask()
  expect([...codes(missing), missing.body['permissionName']]).toEqual([403, 'CMN-401', 'WebSocketsSubscription'])
  const nobody = await fetch(`${harness.simulator.url}/restapi/oauth/wstoken`, { method: 'POST' })
  expect(nobody.status).toBe(401)
})

test('a second subscription replaces the first, and those of others are refused', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  const [, first] = await socket.subscribe()
  const store = `/restapi/v1.0/account/~/extension/~/message-store`
  const [, second] = await socket.subscribe([store])
  expect(second.id).not.toBe(first.id)
  expect(harness.control.subscriptions().map(({ subscriptionId }) => subscriptionId)).toEqual([second.id])
  const [other, refusal] = await socket.subscribe([
    `/restapi/v1.0/account/~/extension/${bob}/message-store/instant?type=SMS`,
  ])
  expect([other.status, refusal.errorCode]).toEqual([403, 'SUB-405'])
  expect(harness.control.subscriptions().map(({ subscriptionId }) => subscriptionId)).toEqual([second.id])
  // The guide's own example of a path has a final slash.
  const deliveryMode = { transportType: 'WebSocket' }
  const [slash] = await socket.request('POST', '/subscription/', { eventFilters: [INSTANT], deliveryMode })
  expect(slash.status).toBe(200)
})

test('the subscription of a socket is read, changed and deleted over it; HTTP reads and deletes it', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  const [, made] = await socket.subscribe()
  const path = `/subscription/${made.id}`
  const [read, info] = await socket.request('GET', path)
  expect([read.status, info.id]).toEqual([200, made.id])
  expect((await socket.request('PUT', path, { eventFilters: [INSTANT] }))[0].status).toBe(200)
  const byHttp = (method: string, more = '', body?: unknown) =>
    harness.api(access_token, method, `${path}${more}`, body)
  expect((await byHttp('GET')).body).toMatchObject({ id: made.id, deliveryMode: { transportType: 'WebSocket' } })
  expect((await byHttp('PUT', '', { eventFilters: [INSTANT] })).status).toBe(405)
  expect((await byHttp('POST', '/renew')).status).toBe(405)
  const { status } = await harness.api(access_token, 'POST', '/subscription', {
    eventFilters: [INSTANT],
    deliveryMode: { transportType: 'WebSocket' },
  })
  expect(status).toBe(400)
  const deleted = await socket.request('DELETE', path)
  expect([deleted[0].status, deleted.length as number]).toEqual([204, 1])
  expect((await socket.request('GET', path))[0].status).toBe(404)
})

test('the REST API answers over a socket, with its limits and faults', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  const [, list] = await socket.request('GET', `${SELF}/message-store`, undefined, { query: { perPage: 1 } })
  expect(list).toMatchObject({ records: [], paging: { perPage: 1 } })
  const [sent, sms] = await socket.request('POST', `${SELF}/sms`, smsBody('Hello'))
  expect([sent.status, sms]).toMatchObject([200, { subject: 'Hello' }])
  expect((await socket.request('GET', '/nothing'))[0].status).toBe(404)
  harness.control.fault({ route: 'sms', fault: { kind: 'respond', status: 503 } })
  expect((await socket.request('POST', `${SELF}/sms`, smsBody('x')))[0].status).toBe(503)
  harness.control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
  socket.send([
    { type: 'ClientRequest', messageId: 'x', method: 'POST', path: `/restapi/v1.0${SELF}/sms` },
    smsBody('y'),
  ])
  expect((await socket.untilClosed()).code).toBe(1006)
  expect(harness.control.messages().map(({ text }) => text)).toEqual(['Hello', 'y'])
})

test('heartbeats are answered, frames that make no sense are ignored', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  for (const frame of ['x', '{}', '[]', '[1]', '[{"type":"Hello"}]', 'null']) socket.send(frame)
  socket.send([{ type: 'Heartbeat', messageId: 'are you there' }])
  expect((await socket.found('Heartbeat'))[0].messageId).toBe('are you there')
  expect(socket.frames).toHaveLength(2)
  expect(socket.closed).toBeNull()
})

test('a socket ends after half an hour without a frame, and after a day, with a frame that says so', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using idle = await openSocket(harness, access_token)
  using busy = await openSocket(harness, access_token)
  await Promise.all([idle, busy].map((one) => one.found('ConnectionDetails')))
  const beat = async (messageId: string) => {
    busy.send([{ type: 'Heartbeat', messageId }])
    await until(() => busy.frames.some(([meta]) => meta.messageId === messageId))
  }
  harness.clock.advance(1_799_000)
  await beat('1')
  expect([idle.closed, busy.closed]).toEqual([null, null])
  harness.clock.advance(1000)
  expect((await idle.found('Error'))[1].errorCode).toBe('WSG-902')
  expect(await idle.untilClosed()).toEqual({ code: 1000, wasClean: true })
  for (let half = 2; half < 49; half++) {
    harness.clock.advance(1_790_000)
    await beat(String(half))
  }
  expect(busy.closed).toBeNull()
  harness.clock.advance(86_400_000 - 1_800_000 - 47 * 1_790_000)
  expect((await busy.found('Error'))[1].errorCode).toBe('WSG-903')
  expect((await busy.untilClosed()).code).toBe(1000)
})

test('the subscription of a socket renews itself, and ends when it is told to', async () => {
  await using harness = await startHarness()
  const weekAndMore = 700_000
  harness.control.configure({ socketSeconds: weekAndMore, socketIdleSeconds: weekAndMore })
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  await socket.subscribe()
  harness.clock.advance((weekAndMore - 1) * 1000)
  const [{ subscriptionId, expiresAt } = { subscriptionId: '', expiresAt: 0 }] = harness.control.subscriptions()
  expect(expiresAt).toBeGreaterThan(harness.clock.now())
  expect((await harness.control.injectSms({ to: ALICE })).deliveries).toHaveLength(1)
  harness.control.expireSubscription({ subscriptionId })
  expect(harness.control.subscriptions()).toEqual([])
})

test('a login that ended brings nothing over its socket, which stays open', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  const [, made] = await socket.subscribe()
  harness.control.revokeTokens({ extensionId: harness.alice })
  const { deliveries } = await harness.control.injectSms({ to: ALICE })
  expect(deliveries.map(({ outcome }) => outcome)).toEqual(['dropped'])
  expect((await socket.request('GET', `/subscription/${made.id}`))[0].status).toBe(401)
  socket.send([{ type: 'Heartbeat', messageId: '1' }])
  await socket.found('Heartbeat')
  expect([socket.events, socket.closed]).toEqual([[], null])
})

test('the sixth login ends the oldest one, and a refreshed one goes on over its socket', async () => {
  await using harness = await startHarness({ limits: false })
  const { access_token, refresh_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  await socket.subscribe()
  await harness.refresh(refresh_token)
  const inject = async (text: string) => (await harness.control.injectSms({ to: ALICE, text })).deliveries[0]?.outcome
  expect(await inject('after a refresh')).toBe('delivered')
  for (let more = 0; more < 5; more++) await harness.login()
  expect(await inject('after five more logins')).toBe('dropped')
  expect(socket.events).toEqual(['after a refresh'])
})

test('a request over a socket needs an access token that has not expired', async () => {
  await using harness = await startHarness()
  const { access_token, refresh_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await socket.found('ConnectionDetails')
  harness.control.expireTokens({ extensionId: harness.alice })
  expect((await socket.request('GET', '/subscription'))[0].status).toBe(401)
  await harness.refresh(refresh_token)
  expect((await socket.request('GET', '/subscription'))[0].status).toBe(200)
  // The request has not used the new token: the old one may still be refreshed.
  harness.clock.advance(60_000)
  expect((await harness.refresh(refresh_token)).status).toBe(200)
})

test('pings are answered', async () => {
  await using harness = await startHarness()
  harness.control.configure({ socketPingMs: 5, socketPongMs: 60_000 })
  const { access_token } = await harness.login()
  using socket = await openSocket(harness, access_token)
  await until(() => socket.pings > 2)
  expect(socket.closed).toBeNull()
})

test('a client that answers no ping is cut', async () => {
  await using harness = await startHarness()
  harness.control.configure({ socketPingMs: 5, socketPongMs: 5 })
  const { access_token } = await harness.login()
  const { uri, ws_access_token } = await ticketOf(harness, access_token)
  const { hostname, port } = new URL(uri)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (bytes: Buffer) => void (received += bytes.toString('latin1')))
  socket.write(
    `GET /ws?access_token=${ws_access_token} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await once(socket, 'close')
  expect(received).toContain('ConnectionDetails')
  await until(() => harness.control.sockets().length === 0)
})
