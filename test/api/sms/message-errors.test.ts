import { expect, test } from 'bun:test'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const NOT_CONNECTED = 'Telephony provider not connected for this tenant'
const REVOKED = 'Extension not connected — re-authorize via invite link'
const EXPIRED = 'Message expired before it could be sent'
const HOUR_MS = 3_600_000
const unknown = (number: string): string => `Phone number ${number} is not registered in this provider account`

const extensionId = (world: World): string => world.control.extensions()[0]?.extensionId ?? ''

async function expectFailed(world: World, messageId: string, error: string): Promise<void> {
  const state = await world.untilStatus(messageId)
  expect(state).toMatchObject({ status: 'failed', error, rcMessageId: null })
}

test('a message of a tenant without a connection is accepted and fails as not connected', async () => {
  await using world = await createWorld({ connect: false })
  await expectFailed(world, await world.send(), NOT_CONNECTED)
  expect(world.control.requests()).toEqual([])
})

test('an unknown number fails as not registered after one number lookup at the provider', async () => {
  await using world = await createWorld()
  world.control.clearRequests()
  const number = '+15555550177'
  await expectFailed(world, await world.send({ from: number }), unknown(number))
  expect(world.control.requests({ route: 'sms' })).toEqual([])
  expect(world.control.requests({ route: 'phone-number' })).toHaveLength(1)
})

test('the number lookup finds a number that the provider has just assigned', async () => {
  await using world = await createWorld()
  const number = '+15555550177'
  world.control.addNumber({ extensionId: extensionId(world), phoneNumber: number, features: ['SmsSender'] })
  expect(await world.untilStatus(await world.send({ from: number }))).toMatchObject({ status: 'sent', from: number })
})

test('a number without the SMS feature is not registered', async () => {
  await using world = await createWorld()
  const number = '+15555550177'
  world.control.addNumber({ extensionId: extensionId(world), phoneNumber: number, features: ['CallerId'] })
  await expectFailed(world, await world.send({ from: number }), unknown(number))
})

test('another tenant’s number is not registered for this one', async () => {
  await using world = await createWorld()
  const other = await world.otherTenant()
  const extension = world.control.addExtension({ name: 'Bob', numbers: ['+15555550142'] })
  await world.connect({ tenantId: other.tenantId, extensionId: extension.extensionId })
  await expectFailed(world, await world.send({ from: '+15555550142' }), unknown('+15555550142'))
  const theirs = await world.send({ from: '+15555550142' }, { key: other.apiKey })
  expect((await world.status(theirs, { key: other.apiKey }))['from']).toBe('+15555550142')
})

test('messages of a revoked extension fail and stay failed', async () => {
  await using world = await createWorld()
  world.control.revokeTokens({ extensionId: extensionId(world) })
  await expectFailed(world, await world.send(), REVOKED)
  world.control.clearRequests()
  await expectFailed(world, await world.send({ body: 'again' }), REVOKED)
  expect(world.control.requests({ route: 'sms' })).toEqual([])
})

test('a provider’s refusal is reported in its own words, without secrets', async () => {
  await using world = await createWorld()
  const body = {
    errorCode: 'MSG-304',
    message: "Phone number doesn't belong to extension",
    errors: [{ errorCode: 'MSG-304', message: "Phone number doesn't belong to extension" }],
  }
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 403, body } })
  await expectFailed(
    world,
    await world.send(),
    "Provider rejected the message: Phone number doesn't belong to extension (MSG-304)",
  )
})

test('a provider’s refusal is cut to 500 characters', async () => {
  await using world = await createWorld()
  world.control.fault({
    route: 'sms',
    fault: { kind: 'respond', status: 400, body: { errorCode: 'CMN-101', message: 'x'.repeat(5000) } },
  })
  const { error } = await world.untilStatus(await world.send())
  expect(String(error)).toStartWith('Provider rejected the message: xxx')
  expect(String(error).length).toBeLessThanOrEqual(500)
})

/** A connected world whose extension is paused for `pauseMs`. */
async function pausedWorld(pauseMs: number, env: Record<string, string> = {}): Promise<[World, ManualClock]> {
  const clock = manualClock()
  const world = await createWorld({ clock, env })
  world.gateway.quota.pause(extensionId(world), 'medium', pauseMs)
  return [world, clock]
}

test('a message older than MAX_QUEUE_AGE fails without a call to the provider', async () => {
  const [world, clock] = await pausedWorld(HOUR_MS + 30_000, { MAX_QUEUE_AGE: '1h' })
  await using _ = world
  const old = await world.send({ body: 'old' })
  clock.advance(HOUR_MS - 1000)
  const young = await world.send({ body: 'young' })
  clock.advance(6000)
  await expectFailed(world, old, EXPIRED)
  expect(await world.status(young)).toMatchObject({ status: 'queued' })
  await until(async () => {
    clock.advance(5000)
    return (await world.status(young))['status'] === 'sent'
  })
  expect(world.control.messages({ direction: 'Outbound' }).map((message) => message.text)).toEqual(['young'])
})

test('MAX_QUEUE_AGE is 24 hours by default', async () => {
  const [world, clock] = await pausedWorld(25 * HOUR_MS)
  await using _ = world
  const id = await world.send()
  clock.advance(24 * HOUR_MS)
  expect(await world.status(id)).toMatchObject({ status: 'queued' })
  await until(async () => {
    clock.advance(5000)
    return (await world.status(id))['status'] !== 'queued'
  })
  await expectFailed(world, id, EXPIRED)
  expect(world.control.requests({ route: 'sms' })).toEqual([])
})
