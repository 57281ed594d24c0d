import { expect, test } from 'bun:test'
import { disconnectExtension } from '../../../src/api/rc/disconnect.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { FROM, createWorld, until } from '../../support/world.ts'

const OK = { status: 200, body: { ok: true } }
const NOT_FOUND = { status: 404, body: { error: 'Extension not found' } }
const BOBS = '+15555550110'

async function twoExtensions(env: Record<string, string> = {}) {
  const world = await createWorld({ env })
  const [alice] = world.control.extensions()
  const bob = world.control.addExtension({ name: 'Bob', numbers: [BOBS] })
  await world.connect({ extensionId: bob.extensionId })
  return { world, alice: alice?.extensionId ?? '', bob: bob.extensionId }
}

test('one extension is disconnected in the gateway and at the provider, and the other one keeps working', async () => {
  const { world, alice, bob } = await twoExtensions()
  await using _ = world
  expect(await world.json('DELETE', `/v1/rc/extensions/${alice}`)).toEqual(OK)
  const { extensions } = (await world.json<{ extensions: { extensionId: string }[] }>('GET', '/v1/rc/extensions')).body
  expect(extensions.map(({ extensionId }) => extensionId)).toEqual([bob])
  expect(world.control.subscriptions().map(({ extensionId }) => extensionId)).toEqual([bob])
  expect(world.control.sessions().map(({ extensionId }) => extensionId)).toEqual([bob])
  const { rows } = await world.gateway.database.gate.execute('SELECT number FROM phone_numbers')
  expect(rows).toEqual([{ number: BOBS }])
  expect(await world.untilStatus(await world.send({ from: BOBS }))).toMatchObject({ status: 'sent' })
  expect(await world.json('DELETE', `/v1/rc/extensions/${alice}`)).toEqual(NOT_FOUND)
})

test('without its last extension the tenant is not connected, and its messages fail accordingly', async () => {
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '1' } })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  await world.untilStatus(await world.send({ body: 'sent' }))
  const waiting = await world.send({ body: 'waits for the window' })
  expect(await world.json('DELETE', `/v1/rc/extensions/${extensionId}`)).toEqual(OK)
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
  const error = 'Telephony provider not connected for this tenant'
  expect(await world.untilStatus(waiting)).toMatchObject({ status: 'failed', error })
})

test('a send under way ends before the disconnect, while the other extension sends', async () => {
  const { world, alice } = await twoExtensions()
  await using _ = world
  const release = holdCalls(world, 'sendSms', 'under way')
  const underWay = await world.send({ body: 'under way' })
  await world.untilStatus(underWay, ['sending'])
  const disconnected = disconnectExtension(world.gateway, { tenantId: world.tenantId }, alice)
  await until(() => world.gateway.directory.isDisconnecting(world.tenantId, alice))
  expect(world.gateway.directory.isDisconnecting(world.tenantId, null)).toBe(false)
  const behind = await world.send({ body: 'behind' })
  expect(await world.untilStatus(await world.send({ from: BOBS }))).toMatchObject({ status: 'sent' })
  expect(await world.status(underWay)).toMatchObject({ status: 'sending' })
  expect(await world.status(behind)).toMatchObject({ status: 'queued' })
  release()
  expect(await disconnected).toEqual({ ok: true })
  expect(await world.status(underWay)).toMatchObject({ status: 'sent' })
  const error = `Phone number ${FROM} is not registered in this provider account`
  expect(await world.untilStatus(behind, ['sent', 'failed'], 15_000)).toMatchObject({ status: 'failed', error })
}, 20_000)

test("another tenant's extension and a malformed id are not found, and nothing is disconnected", async () => {
  await using world = await createWorld()
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const stranger = await world.otherTenant()
  const call = { key: stranger.apiKey }
  for (const id of [extensionId, '0', 'x', '%00', '..%2F', "'", '__proto__', '9'.repeat(300), `${extensionId}%20`])
    expect([id, await world.json('DELETE', `/v1/rc/extensions/${id}`, call)]).toEqual([id, NOT_FOUND])
  expect((await world.json('GET', '/v1/rc/status')).body['connected']).toBe(true)
})
