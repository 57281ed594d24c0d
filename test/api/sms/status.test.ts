import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { expectError } from '../../support/expect-error.ts'
import { FROM, TO, createWorld } from '../../support/world.ts'

test('the status of an outbound message has the contract’s fields and no others', async () => {
  await using world = await createWorld({ connect: false, work: false, clock: manualClock() })
  const messageId = await world.send({ body: 'Hi' })
  const response = await world.call('GET', `/v1/sms/status/${messageId}`)
  expect(response.status).toBe(200)
  const at = '2026-11-21T02:30:00.000Z'
  expect(await response.json()).toEqual({
    messageId,
    status: 'queued',
    rcMessageId: null,
    error: null,
    to: TO,
    from: FROM,
    body: 'Hi',
    createdAt: at,
    updatedAt: at,
  })
})

test('updatedAt is the time of the last change', async () => {
  const clock = manualClock()
  await using world = await createWorld({ work: false, clock })
  const messageId = await world.send()
  clock.advance(1234)
  world.running.work()
  const state = await world.untilStatus(messageId, ['sent'])
  expect(state).toMatchObject({
    createdAt: '2026-11-21T02:30:00.000Z',
    updatedAt: '2026-11-21T02:30:01.234Z',
    error: null,
  })
  expect(state['rcMessageId']).toBe(world.control.messages()[0]?.messageId ?? '')
})

test('the status of an inbound message names the extension that received it', async () => {
  await using world = await createWorld()
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi there' })
  const { body } = await world.json<{ messages: Record<string, unknown>[] }>(
    'GET',
    '/v1/sms/messages?direction=inbound',
  )
  const state = await world.status(String(body.messages[0]?.['messageId']))
  expect(Object.keys(state).toSorted()).toEqual([
    'body',
    'createdAt',
    'error',
    'from',
    'messageId',
    'rcMessageId',
    'receivingExtensionId',
    'status',
    'to',
    'updatedAt',
  ])
  expect(state).toMatchObject({
    status: 'received',
    body: 'Hi there',
    from: TO,
    to: FROM,
    receivingExtensionId: world.control.extensions()[0]?.extensionId ?? '',
  })
})

test('another tenant’s message is not found', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const messageId = await world.send()
  const { apiKey } = await world.otherTenant()
  await expectError(await world.call('GET', `/v1/sms/status/${messageId}`, { key: apiKey }), 404, 'Message not found')
})

test('another app of the same tenant can read the status', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const messageId = await world.send()
  const { apiKey } = await world.secondApp()
  expect(await world.status(messageId, { key: apiKey })).toMatchObject({ messageId })
})

test('a message id is msg_ and 12 lower-case hex digits', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const bad = [
    'msg_',
    'msg_0123456789a',
    'msg_0123456789abc',
    'msg_0123456789AB',
    'MSG_0123456789ab',
    'msg_0123456789ag',
    '0123456789ab',
    'msg_0123456789ab%00',
    'msg_0123456789ab%0a',
    '%',
    '..%2f..',
    'msg_0123456789ab%20',
  ]
  for (const id of bad)
    await expectError(await world.call('GET', `/v1/sms/status/${id}`), 400, 'Invalid messageId format')
  await expectError(await world.call('GET', '/v1/sms/status/'), 404, 'Not found')
})
