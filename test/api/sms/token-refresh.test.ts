import { expect, test } from 'bun:test'
import { failureOf } from '../../support/process.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM_2, type World, createWorld, until } from '../../support/world.ts'

const REVOKED = 'Extension not connected — re-authorize via invite link'

const extensionId = (world: World): string => world.control.extensions()[0]?.extensionId ?? ''
const tokenCalls = (world: World): number => world.control.requests({ route: 'token' }).length

async function extensionStatus(world: World): Promise<unknown> {
  return (await world.json<{ extensions: { status: string }[] }>('GET', '/v1/rc/extensions')).body.extensions[0]?.status
}

test('a 401 leads to one refresh, and the message is sent once', async () => {
  await using world = await createWorld()
  world.control.clearRequests()
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 401 } })
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(1)
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
})

test('a 401 for every token fails the message as not connected, after one refresh', async () => {
  await using world = await createWorld()
  world.control.clearRequests()
  world.control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status: 401 } })
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'failed', error: REVOKED })
  expect(tokenCalls(world)).toBe(1)
  expect(world.control.requests({ route: 'sms' })).toHaveLength(2)
})

test('simultaneous sends with an invalid token share one refresh', async () => {
  await using world = await createWorld({ env: { EXTENSION_LIMIT_PER_MINUTE: '1000' } })
  world.control.expireTokens({ extensionId: extensionId(world) })
  world.control.clearRequests()
  const ids = await Promise.all(Array.from({ length: 10 }, (_, index) => world.send({ body: `text ${index}` })))
  for (const id of ids) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(1)
})

test('an access token that is about to expire is refreshed before it is used', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  clock.advance(3_600_000)
  world.control.clearRequests()
  world.running.work()
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(1)
  expect(world.control.requests().filter((request) => request.status === 401)).toEqual([])
})

test('a token pair that cannot be stored is kept in memory and not requested again', async () => {
  await using world = await createWorld()
  const { tokens, database } = world.gateway
  const key = { tenantId: world.tenantId, extensionId: extensionId(world) }
  const write = database.writer.write
  let isFull = true
  database.writer.write = (statements) =>
    isFull ? Promise.reject(new Error('SQLITE_FULL: database or disk is full')) : write(statements)
  world.control.clearRequests()
  for (let number = 0; number < 3; number++)
    expect(await failureOf(tokens.refresh(key))).toMatchObject({
      cause: { message: expect.stringContaining('SQLITE_FULL') },
    })
  isFull = false
  // The provider's answer after an hour.
  const fault = { kind: 'respond', status: 400, body: { error: 'invalid_grant' } } as const
  world.control.fault({ route: 'token', calls: null, fault })
  expect(await tokens.refresh(key)).toMatchObject({ type: 'token' })
  expect(tokenCalls(world)).toBe(1)
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
})

test('while a refresh fails, messages stay queued and the extension is refresh_failed', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await until(() => world.control.requests().length > 0)
  world.control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 503 } })
  clock.advance(3_600_000)
  const id = await world.send()
  await until(async () => (await extensionStatus(world)) === 'refresh_failed')
  const second = await world.send({ from: FROM_2, body: 'another' })
  expect((await world.json('GET', '/v1/rc/status')).body['connected']).toBe(true)
  clock.advance(10_000)
  await until(() => tokenCalls(world) >= 3)
  expect(await extensionStatus(world)).toBe('refresh_failed')
  expect(['queued', 'sending']).toContain(String((await world.status(id))['status']))
  expect((await world.status(second))['status']).toBe('queued')
  const inTime = (ask: () => Promise<boolean>): Promise<true> => until(() => (clock.advance(1000), ask()))
  await inTime(async () => (await extensionStatus(world)) === 'active')
  for (const messageId of [second, id]) await inTime(async () => (await world.status(messageId))['status'] === 'sent')
})

test('an invalid refresh token revokes the extension, and a new authorization restores it', async () => {
  await using world = await createWorld()
  world.control.revokeTokens({ extensionId: extensionId(world) })
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'failed', error: REVOKED })
  expect(await extensionStatus(world)).toBe('revoked')
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
  expect((await world.connect()).status).toBe(200)
  expect(await extensionStatus(world)).toBe('active')
  expect(await world.untilStatus(await world.send({ body: 'again' }))).toMatchObject({ status: 'sent' })
})

/** Lets the provider issue tokens that live this long. */
function issueTokensFor(world: World, seconds: number): void {
  const { provider } = world.gateway
  const refresh = provider.refresh
  provider.refresh = async (token) => {
    const result = await refresh(token)
    return result.ok ? { ok: true, value: { ...result.value, expiresInSeconds: seconds } } : result
  }
}

test.each([60, 30])('tokens that live %i s are used, and refreshed when they have expired', async (seconds) => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  issueTokensFor(world, seconds)
  clock.advance(3_600_000)
  world.control.clearRequests()
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(1)
  clock.advance(seconds * 1000)
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(2)
})

test('a token that lives 2 s is not refreshed again within 10 s, and `waiting` names the reason', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  issueTokensFor(world, 2)
  clock.advance(3_600_000)
  world.control.clearRequests()
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  clock.advance(2000)
  const id = await world.send()
  const pauseEnd = new Date(clock.now() + 8000).toISOString()
  expect(await timeline(world, id)).toMatchObject({
    status: 'queued',
    waiting: { reason: 'reauthorization', until: pauseEnd },
  })
  await world.send({ from: FROM_2 })
  clock.advance(7999)
  expect(await timeline(world, id)).toMatchObject({ status: 'queued' })
  expect(tokenCalls(world)).toBe(1)
  clock.advance(1)
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  expect(tokenCalls(world)).toBe(2)
})

const timeline = async (world: World, messageId: string) =>
  (await world.json('GET', `/v1/sms/${messageId}/timeline`)).body
