import { describe, expect, test } from 'bun:test'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operate, signIn } from '../support/operator.ts'
import { receiveText } from '../support/provider-events.ts'
import { type SocketClient, listenTo, openSocket } from '../support/socket.ts'
import { type World, createWorld } from '../support/world.ts'

const quiet = { connect: false, work: false }

/** A `wst_` token that an operator has fetched as an app. */
async function socketToken(world: World, token: string, appId = world.app.appId): Promise<string> {
  const { status, body } = await world.json<{ token: string }>('POST', '/v1/ws/token', {
    key: token,
    headers: { 'sgw-app': appId },
  })
  expect(status).toBe(200)
  return body.token
}

const open = async (world: World, token: string): Promise<SocketClient> =>
  listenTo(world.url, { token: await socketToken(world, token) })

describe('an operator’s socket', () => {
  test('hears all apps of its tenant, and nothing of another', async () => {
    await using world = await createWorld({ work: false })
    const second = await world.secondApp()
    const stranger = await world.otherTenant()
    const { token } = await signIn(world)
    await using operator = await open(world, token)
    await using app = await listenTo(world.url, { apiKey: world.key })
    const [mine, others, foreign] = [
      await world.send(),
      await world.send({}, { key: second.apiKey }),
      await world.send({}, { key: stranger.apiKey }),
    ]
    await receiveText(world, 'Hello')
    const heard = await operator.received(4)
    expect(heard.map((event) => [event['type'], event['messageId'] === undefined ? '' : event['appId']])).toEqual([
      ['auth_ok', ''],
      ['sms_status', world.app.appId],
      ['sms_status', second.appId],
      ['sms_inbound', undefined],
    ])
    expect(heard.map((event) => event['messageId'])).toEqual(expect.arrayContaining([mine, others]))
    expect(JSON.stringify(operator.messages)).not.toContain(foreign)
    expect((await app.received(3)).map(({ type }) => type)).toEqual(['auth_ok', 'sms_status', 'sms_inbound'])
  })

  test('and GET /v1/events tell the same', async () => {
    await using world = await createWorld({ work: false })
    const second = await world.secondApp()
    const stranger = await world.otherTenant()
    const { token } = await signIn(world)
    await using operator = await open(world, token)
    const page = async (query = '') => {
      const options = { key: token, headers: { 'sgw-app': world.app.appId } }
      return (await world.json<{ events: object[]; cursor: string }>('GET', `/v1/events${query}`, options)).body
    }
    const { cursor } = await page()
    await world.send()
    await world.send({}, { key: second.apiKey })
    await world.send({}, { key: stranger.apiKey })
    await receiveText(world, 'Hello')
    const [, ...heard] = await operator.received(4)
    expect((await page(`?after=${cursor}`)).events).toEqual(heard)
  })

  test('opens by no operator’s token, and not after the session has ended', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    for (const credential of [{ apiKey: token }, { token }]) {
      await using socket = await openSocket(world.url)
      socket.send({ type: 'auth', ...credential })
      expect((await socket.closed).code).toBe(1008)
    }
    const ticket = await socketToken(world, token)
    await world.call('DELETE', '/v1/operator/session', { key: token })
    await using socket = await openSocket(world.url)
    socket.send({ type: 'auth', token: ticket })
    expect(await socket.closed).toEqual({ code: 1008, reason: 'Invalid or expired token' })
  })

  test('has a token for an active app of an active tenant alone', async () => {
    await using world = await createWorld(quiet)
    const second = await world.secondApp()
    await operate(world, 'POST', `/v1/operator/apps/${second.appId}/deactivate`)
    const { token } = await signIn(world)
    const ask = (appId: string | null) =>
      world.call('POST', '/v1/ws/token', { key: token, headers: appId === null ? {} : { 'sgw-app': appId } })
    await expectError(await ask(null), 400, 'Sgw-App header is required')
    await expectError(await ask(second.appId), 404, 'App not found')
    await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
    await expectError(await ask(world.app.appId), 403, 'Tenant suspended or inactive')
  })

  test('closes as after a key rotation when its session is ended; other sessions’ stay', async () => {
    await using world = await createWorld(quiet)
    const [mine, other] = [await signIn(world), await signIn(world)]
    await using ended = await open(world, mine.token)
    await using kept = await open(world, other.token)
    await world.call('DELETE', '/v1/operator/session', { key: mine.token })
    expect(await ended.closed).toEqual({ code: 1008, reason: 'Invalid API key' })
    expect(ended.messages.at(-1)).toEqual({ type: 'auth_error', error: 'Invalid API key' })
    expect(kept.isOpen).toBe(true)
    await operate(world, 'DELETE', '/v1/operator/sessions')
    expect(await kept.closed).toEqual({ code: 1008, reason: 'Invalid API key' })
  })

  test('closes when its session expires', async () => {
    const clock = manualClock()
    await using world = await createWorld({ ...quiet, clock })
    const { token } = await signIn(world)
    clock.advance(12 * 3_600_000 - 30_000)
    await using socket = await open(world, token)
    clock.advance(29_999)
    expect(socket.isOpen).toBe(true)
    clock.advance(1)
    expect(await socket.closed).toEqual({ code: 1008, reason: 'Invalid API key' })
  })

  test('stays when the app that it was fetched with gets a new key; a suspension of its tenant closes it', async () => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    await using socket = await open(world, token)
    await using app = await listenTo(world.url, { apiKey: world.key })
    await operate(world, 'POST', `/v1/operator/apps/${world.app.appId}/rotate-key`)
    await app.closed
    expect(socket.isOpen).toBe(true)
    await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
    expect((await socket.closed).code).toBe(1008)
  })
})

test('--revoke closes no app’s socket', async () => {
  await using world = await createWorld(quiet)
  await using app = await listenTo(world.url, { apiKey: world.key })
  await operate(world, 'DELETE', '/v1/operator/sessions')
  await receiveText(world, 'Hello')
  expect((await app.received(2))[1]).toMatchObject({ type: 'sms_inbound' })
})
