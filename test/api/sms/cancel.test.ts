import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { expectError } from '../../support/expect-error.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { FROM, TO, createWorld, until } from '../../support/world.ts'

test('a queued message is cancelled and never sent', async () => {
  await using world = await createWorld({ work: false })
  const cancelled = await world.send({ body: 'no' })
  const kept = await world.send({ body: 'yes' })
  const response = await world.json('DELETE', `/v1/sms/${cancelled}`)
  expect(response).toEqual({ status: 200, body: { ok: true } })
  expect(await world.status(cancelled)).toMatchObject({
    status: 'failed',
    error: 'Cancelled before sending',
    rcMessageId: null,
  })
  world.running.work()
  await world.untilStatus(kept, ['sent'])
  expect(world.control.messages({ direction: 'Outbound' }).map((message) => message.text)).toEqual(['yes'])
})

test('a message that is no longer queued is not cancelled', async () => {
  await using world = await createWorld()
  const sent = await world.send()
  await world.untilStatus(sent, ['sent'])
  await expectError(await world.call('DELETE', `/v1/sms/${sent}`), 409, 'Message is already sent')
  expect(await world.status(sent)).toMatchObject({ status: 'sent', error: null })
})

test('a message whose call is under way is not cancelled', async () => {
  await using world = await createWorld()
  const release = holdCalls(world, 'sendSms')
  const id = await world.send()
  await world.untilStatus(id, ['sending'])
  await expectError(await world.call('DELETE', `/v1/sms/${id}`), 409, 'Message is already sending')
  release()
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})

test('of simultaneous requests exactly one cancels a message', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const id = await world.send()
  const responses = await Promise.all(Array.from({ length: 8 }, () => world.call('DELETE', `/v1/sms/${id}`)))
  expect(responses.map((response) => response.status).toSorted()).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
  await expectError(await world.call('DELETE', `/v1/sms/${id}`), 409, 'Message is already failed')
})

test('an inbound message is not cancelled', async () => {
  await using world = await createWorld()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi' })
  const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages')
  await expectError(
    await world.call('DELETE', `/v1/sms/${body.messages[0]?.messageId}`),
    409,
    'Message is already received',
  )
})

test('another tenant’s message is not found and stays queued', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const id = await world.send()
  const other = await world.otherTenant()
  await expectError(await world.call('DELETE', `/v1/sms/${id}`, { key: other.apiKey }), 404, 'Message not found')
  expect(await world.status(id)).toMatchObject({ status: 'queued' })
})

test('another app of the tenant may cancel a message', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const id = await world.send()
  const { apiKey } = await world.secondApp()
  expect((await world.call('DELETE', `/v1/sms/${id}`, { key: apiKey })).status).toBe(200)
})

test('messages behind a cancelled message are sent', async () => {
  await using world = await createWorld()
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  const ids = await Promise.all(['1', '2', '3'].map((body) => world.send({ body })))
  await until(async () => {
    const states = await Promise.all(ids.map((id) => world.status(id)))
    return states.every((state) => state['status'] === 'sent')
  })
})
