import { describe, expect, test } from 'bun:test'
import { rotateAppKey } from '../../../src/operator/apps.ts'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { openRawSocket } from '../../support/raw-socket.ts'
import { type SocketClient, listenTo, openSocket } from '../../support/socket.ts'
import { receiveText } from '../../support/provider-events.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const quiet = { connect: false, work: false }
const PING_MS = 30_000

describe('revoking a key closes its sockets: auth_error `Invalid API key`, 1008', () => {
  const causes: [string, (world: World) => Promise<unknown>, 'app' | 'tenant'][] = [
    ['DELETE of the app', (world) => world.call('DELETE', `/v1/apps/${world.app.appId}`), 'app'],
    [
      'PUT isActive false',
      (world) => world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { isActive: false } }),
      'app',
    ],
    ['a new key', (world) => world.call('POST', `/v1/apps/${world.app.appId}/rotate-key`), 'app'],
    ['a new key by the operator', (world) => rotateAppKey(world.gateway, { appId: world.app.appId }), 'app'],
    [
      'suspension',
      (world) => setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' }),
      'tenant',
    ],
    [
      'deactivation of the tenant',
      (world) => setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'inactive' }),
      'tenant',
    ],
  ]
  test.each(causes)('%s', async (_name, cause, scope) => {
    await using world = await createWorld(quiet)
    const second = await world.secondApp()
    const stranger = await world.otherTenant()
    const { token } = (await world.json<{ token: string }>('POST', '/v1/ws/token')).body
    await using byKey = await listenTo(world.url, { apiKey: world.key })
    await using byToken = await listenTo(world.url, { token })
    await using sibling = await listenTo(world.url, { apiKey: second.apiKey })
    await using outside = await listenTo(world.url, { apiKey: stranger.apiKey })
    await cause(world)
    const ended: SocketClient[] = [byKey, byToken, ...(scope === 'tenant' ? [sibling] : [])]
    for (const socket of ended) {
      expect(await socket.closed).toEqual({ code: 1008, reason: 'Invalid API key' })
      expect(socket.messages).toEqual([{ type: 'auth_ok' }, { type: 'auth_error', error: 'Invalid API key' }])
    }
    await receiveText(world, 'after')
    if (scope === 'app') expect((await sibling.received(2))[1]).toMatchObject({ body: 'after' })
    expect(outside.isOpen).toBe(true)
    expect(outside.messages).toEqual([{ type: 'auth_ok' }])
  })

  test('a new webhook secret or address closes no socket', async () => {
    await using world = await createWorld(quiet)
    await using socket = await listenTo(world.url, { apiKey: world.key })
    await world.call('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
    await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: 'https://example.com/' } })
    await receiveText(world, 'after')
    expect((await socket.received(2))[1]).toMatchObject({ body: 'after' })
  })
})

test('a JSON ping is sent every 30 s; a client that answers stays connected, and a silent one is terminated after 90 s', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  await using healthy = await listenTo(world.url, { apiKey: world.key })
  using silent = await openRawSocket(world.url)
  silent.send(JSON.stringify({ type: 'auth', apiKey: world.key }))
  await until(() => silent.text().includes('auth_ok'))
  for (let tick = 1; tick <= 10; tick++) {
    clock.advance(PING_MS - 1)
    expect(healthy.messages).toHaveLength(tick)
    clock.advance(1)
    expect((await healthy.received(tick + 1)).at(-1)).toEqual({ type: 'ping' })
    if (tick <= 3) await until(() => silent.text().split('{"type":"ping"}').length === tick + 1)
    else await until(() => silent.isClosed())
  }
  expect(healthy.isOpen).toBe(true)
  expect(world.gateway.sockets.count).toBe(1)
})

test('no ping is sent before authentication', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  await using open = await listenTo(world.url, { apiKey: world.key })
  clock.advance(PING_MS - 1000)
  await using waiting = await openSocket(world.url)
  clock.advance(1000)
  await open.received(2)
  waiting.send({ type: 'auth', apiKey: world.key })
  expect(await waiting.received(1)).toEqual([{ type: 'auth_ok' }])
})

test('a frame over 16 KB closes the socket with 1009, before and after authentication', async () => {
  await using world = await createWorld(quiet)
  await using fresh = await openSocket(world.url)
  await using open = await listenTo(world.url, { apiKey: world.key })
  for (const socket of [fresh, open]) {
    socket.send('x'.repeat(16_385))
    expect((await socket.closed).code).toBe(1009)
  }
  await until(() => world.gateway.sockets.count === 0)
})

test('a client for which more than 256 KB wait is closed, and the others miss nothing', async () => {
  await using world = await createWorld(quiet)
  await using healthy = await listenTo(world.url, { apiKey: world.key })
  using slow = await openRawSocket(world.url)
  slow.send(JSON.stringify({ type: 'auth', apiKey: world.key }))
  await until(() => slow.text().includes('auth_ok'))
  slow.socket.pause()
  expect(world.gateway.sockets.count).toBe(2)
  const body = 'x'.repeat(64 * 1024)
  let sent = 0
  while (world.gateway.sockets.count === 2 && sent < 1000) {
    await receiveText(world, body)
    sent++
    await healthy.received(1 + sent)
  }
  expect(world.gateway.sockets.count).toBe(1)
  await receiveText(world, 'last')
  expect((await healthy.received(2 + sent)).at(-1)).toMatchObject({ body: 'last' })
  // The client still gets what the operating system's buffers hold. The rest had waited in the gateway.
  slow.socket.resume()
  await until(() => slow.isClosed())
  expect(sent * body.length - slow.text().length).toBeWithin(128 * 1024, 512 * 1024)
})

test('an app may have at most 200 sockets', async () => {
  await using world = await createWorld(quiet)
  await using stack = new AsyncDisposableStack()
  for (let count = 0; count < 200; count++) stack.use(await listenTo(world.url, { apiKey: world.key }))
  await using next = await openSocket(world.url)
  next.send({ type: 'auth', apiKey: world.key })
  expect((await next.closed).code).toBe(1008)
})

test('a stopping server closes its sockets with 1001', async () => {
  const world = await createWorld(quiet)
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const startedAt = performance.now()
  await world[Symbol.asyncDispose]()
  expect((await socket.closed).code).toBe(1001)
  expect(performance.now() - startedAt).toBeLessThan(6000)
})
