import { expect, test } from 'bun:test'
import { type DeliveryRow, endDeliveries, insertDeliveries } from '../../support/delivery-rows.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startReceiver } from '../../support/receiver.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

type Message = Record<string, unknown>
interface List {
  messages: Message[]
  total: number
  page: number
  limit: number
}

const list = async (world: World, query = '', key = world.key): Promise<List> =>
  (await world.json<List>('GET', `/v1/sms/messages?${query}`, { key })).body

test('include=delivery adds fields to outbound messages, `webhooks` alone to inbound ones, and without it there are none', async () => {
  await using world = await createWorld({ clock: manualClock() })
  const sent = await world.send()
  await world.untilStatus(sent, ['sent'])
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi' })
  await until(async () => (await list(world)).total === 2)
  const plain = await list(world, 'include=')
  const [inbound, outbound] = plain.messages
  const added = { deliveryStatus: 'pending', deliveryError: null, sendAt: null, waiting: null }
  expect(await list(world, 'include=delivery')).toEqual({
    ...plain,
    messages: [
      { ...inbound, webhooks: null, attachments: 0 },
      { ...outbound, ...added, webhooks: null },
    ],
  })
  const contract = ['messageId', 'jobId', 'appId', 'tenantId', 'userId', 'direction', 'status', 'rcMessageId', 'error']
  const texts = ['to', 'from', 'body']
  expect(plain.messages.map((message) => Object.keys(message))).toEqual([
    [...contract, ...texts, 'receivingExtensionId', 'createdAt', 'updatedAt'],
    [...contract, ...texts, 'createdAt', 'updatedAt'],
  ])
  expect(await list(world)).toEqual(plain)
  expect(await list(world, 'page=9&include=delivery')).toEqual({ ...plain, messages: [], page: 9 })
})

test.each([
  ['SMS-CAR-430', { code: 'SMS-CAR-430', reason: 'Refused as spam' }],
  ['SMS-CAR-999', { code: 'SMS-CAR-999', reason: 'Not delivered (SMS-CAR-999)' }],
  [undefined, { code: null, reason: 'Not delivered' }],
])('an undelivered message says why: %p', async (deliveryErrorCode, expected) => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { rcMessageId } = await world.untilStatus(await world.send(), ['sent'])
  const change = { messageId: String(rcMessageId), messageStatus: 'DeliveryFailed' }
  world.control.setMessageStatus(deliveryErrorCode === undefined ? change : { ...change, deliveryErrorCode })
  const found = await until(async () => {
    clock.advance(1000)
    const [message] = (await list(world, 'include=delivery')).messages
    return message?.['deliveryStatus'] === 'undelivered' ? message : null
  })
  expect(found).toMatchObject({ status: 'sent', error: null, deliveryError: expected })
})

test('a message whose webhook failed shows it, until a later attempt succeeds', async () => {
  await using receiver = startReceiver(500)
  await using world = await createWorld({ clock: manualClock() })
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi' })
  const webhooks = async (): Promise<unknown> => (await list(world, 'include=delivery')).messages[0]?.['webhooks']
  expect(await until(webhooks)).toEqual({ failed: 1, total: 1, lastStatusCode: 500 })
  receiver.answer = () => new Response(null, { status: 204 })
  const [message] = (await list(world)).messages
  const deliveryId = `${String(message?.['messageId'])}:${world.app.appId}`
  await world.call('POST', `/v1/webhook-deliveries/${deliveryId}/redeliver`)
  await until(async () => ((await webhooks()) as { failed: number }).failed === 0)
  expect(await webhooks()).toEqual({ failed: 0, total: 1, lastStatusCode: 204 })
})

test('each delivery counts by its latest attempt that has ended', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => world.send({ body: String(n) })))
  const [several = '', unanswered = '', open = '', , theirs = ''] = ids
  let at = 1000
  const attempt = (messageId: string, target: string, more: Partial<DeliveryRow>): DeliveryRow => ({
    messageId,
    kind: 'trigger',
    targetId: target,
    outcome: 'success',
    attemptedAt: at++,
    ...more,
  })
  const failed = { outcome: 'http_error', statusCode: 500 } as const
  await endDeliveries(world, [
    attempt(several, 'trg_1', failed),
    attempt(several, 'trg_2', failed),
    attempt(several, 'trg_3', { statusCode: 200 }),
    attempt(several, 'trg_1', { attemptNumber: 2, statusCode: 202 }),
    attempt(several, 'trg_2', { attemptNumber: 2, outcome: 'http_error', statusCode: 503 }),
    attempt(unanswered, 'trg_1', failed),
    attempt(unanswered, 'trg_1', { attemptNumber: 10, outcome: 'timeout' }),
    attempt(open, 'trg_1', failed),
  ])
  await insertDeliveries(world, [
    attempt(open, 'trg_1', { attemptNumber: 2 }),
    attempt(open, 'trg_2', {}),
    attempt(theirs, 'trg_1', { tenantId: (await world.otherTenant()).tenantId }),
    // Their ids begin as that of a message without deliveries does.
    ...['0', 'a'].map((more) => attempt(`${ids[3]}${more}`, 'trg_1', {})),
  ])
  const { gate } = world.gateway.database
  await gate.execute({
    sql: `UPDATE webhook_attempts SET outcome = NULL WHERE message_id = ?1 AND (attempt_number = 2 OR target_id = 'trg_2')`,
    args: [open],
  })
  const { messages } = await list(world, 'include=delivery')
  const webhooks = Object.fromEntries(messages.map((message) => [String(message['messageId']), message['webhooks']]))
  expect(ids.map((id) => webhooks[id])).toEqual([
    { failed: 1, total: 3, lastStatusCode: 503 },
    { failed: 1, total: 1, lastStatusCode: null },
    { failed: 1, total: 1, lastStatusCode: 500 },
    null,
    null,
  ])
})

test('another tenant sees neither the messages nor their deliveries', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant()
  const id = await world.send()
  await insertDeliveries(world, [
    { messageId: id, kind: 'trigger', targetId: 'trg_1', outcome: 'timeout', attemptedAt: 1 },
  ])
  await world.send({ body: 'theirs' }, { key: other.apiKey })
  const { messages } = await list(world, 'include=delivery', other.apiKey)
  expect(messages).toMatchObject([{ body: 'theirs', webhooks: null }])
})

test('another value of include is refused', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const value of ['Delivery', 'delivery,body', 'webhooks', '%00', 'x'.repeat(1000)])
    await expectError(await world.call('GET', `/v1/sms/messages?include=${value}`), 400, 'Invalid include')
})
