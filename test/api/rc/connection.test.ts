import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, createWorld } from '../../support/world.ts'

const WEEK_MS = 7 * 86_400_000

test('status is {connected:false} without a connected extension', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('GET', '/v1/rc/status')
  expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { connected: false } })
})

test('status has the account and the earliest expiry of a refresh token', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const [alice] = world.control.extensions()
  const expiresAt = new Date(clock.now() + WEEK_MS).toISOString()
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({
    connected: true,
    expiresAt,
    rcAccountId: alice?.accountId,
  })
  clock.advance(86_400_000)
  const bob = world.control.addExtension({ name: 'Bob', numbers: ['+15555550142'] })
  await world.connect({ extensionId: bob.extensionId })
  expect((await world.json('GET', '/v1/rc/status')).body['expiresAt']).toBe(expiresAt)
  await world.connect({ extensionId: alice?.extensionId ?? '' })
  expect((await world.json('GET', '/v1/rc/status')).body['expiresAt']).toBe(
    new Date(clock.now() + WEEK_MS).toISOString(),
  )
})

test('extensions are listed with their numbers and without secrets', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const [alice] = world.control.extensions()
  clock.advance(1000)
  const bob = world.control.addExtension({
    name: 'Bob',
    numbers: ['+15555550142', { phoneNumber: '+15555550143', features: ['CallerId'] }],
  })
  await world.connect({ extensionId: bob.extensionId })
  expect((await world.json('GET', '/v1/rc/extensions')).body).toEqual({
    extensions: [
      {
        extensionId: alice?.extensionId,
        rcAccountId: alice?.accountId,
        connectedAt: '2026-11-21T02:30:00.000Z',
        status: 'active',
        phoneNumbers: [FROM, FROM_2],
      },
      {
        extensionId: bob.extensionId,
        rcAccountId: bob.accountId,
        connectedAt: '2026-11-21T02:30:01.000Z',
        status: 'active',
        phoneNumbers: ['+15555550142'],
      },
    ],
  })
})

test('a tenant sees only its own connection', async () => {
  await using world = await createWorld({ work: false })
  const other = await world.otherTenant()
  expect((await world.json('GET', '/v1/rc/status', { key: other.apiKey })).body).toEqual({ connected: false })
  expect((await world.json('GET', '/v1/rc/extensions', { key: other.apiKey })).body).toEqual({ extensions: [] })
})

test('one extension may serve two tenants', async () => {
  await using world = await createWorld()
  const other = await world.otherTenant()
  expect((await world.connect({ tenantId: other.tenantId })).status).toBe(200)
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  const theirs = await world.send({ body: 'theirs' }, { key: other.apiKey })
  for (let state = ''; state !== 'sent';) state = String((await world.status(theirs, { key: other.apiKey }))['status'])
})
