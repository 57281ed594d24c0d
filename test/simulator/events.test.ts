import { expect, test } from 'bun:test'
import { ALICE, BOB, startHarness, type SimulatorHarness } from './harness.ts'
import { startWebhook, type Webhook } from './webhook.ts'

const STORE = '/restapi/v1.0/account/~/extension/~/message-store'

interface Subscribed extends AsyncDisposable {
  harness: SimulatorHarness
  webhook: Webhook
  token: string
  subscriptionId: string
}

async function subscribed(filters: string[] = [`${STORE}/instant?type=SMS`], expiresIn = 604_800): Promise<Subscribed> {
  const [harness, webhook] = [await startHarness(), startWebhook()]
  const token = (await harness.login()).access_token
  const deliveryMode = { transportType: 'WebHook', address: webhook.url, verificationToken: 'verify-me' }
  const created = await harness.api(token, 'POST', '/subscription', { eventFilters: filters, deliveryMode, expiresIn })
  return {
    harness,
    webhook,
    token,
    subscriptionId: String(created.body.id),
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]()
      await webhook[Symbol.asyncDispose]()
    },
  }
}

test('the event of an inbound SMS has its text, ids as strings, and the headers of the platform', async () => {
  await using world = await subscribed()
  const { harness, webhook } = world
  const injected = await harness.control.injectSms({ from: '+16505550177', to: ALICE, text: 'Hi there' })
  expect(injected.deliveries).toEqual([{ subscriptionId: world.subscriptionId, outcome: 'delivered', status: 200 }])
  const [event] = webhook.events()
  expect(event).toMatchObject({
    event: `/restapi/v1.0/account/809640016/extension/${harness.alice}/message-store/instant?type=SMS`,
    timestamp: '2026-11-21T02:30:00.000Z',
    subscriptionId: world.subscriptionId,
    ownerId: harness.alice,
    body: {
      id: injected.messageId,
      subject: 'Hi there',
      direction: 'Inbound',
      type: 'SMS',
      messageStatus: 'Received',
      eventType: 'Create',
      to: [{ phoneNumber: ALICE, name: 'Alice Smith', target: true }],
      from: { phoneNumber: '+16505550177', phoneNumberInfo: { subscriberNumber: '5550177' } },
      owner: { extensionId: harness.alice, extensionType: 'User' },
    },
  })
  expect(event?.uuid).toMatch(/^\d{5,19}$/)
  const headers = webhook.requests[1]?.headers
  const names = ['accept', 'accept-encoding', 'content-type', 'user-agent', 'verification-token']
  expect(names.map((name) => headers?.get(name))).toEqual([
    'application/json',
    'UTF-8',
    'application/json; charset=UTF-8',
    'RingCentral-Webhook/8.3',
    'verify-me',
  ])
  expect(headers?.has('validation-token')).toBe(false)
})

test('an SMS goes only to the subscriptions of its extension', async () => {
  await using world = await subscribed()
  world.harness.control.addExtension({ numbers: [BOB] })
  expect((await world.harness.control.injectSms({ to: BOB })).deliveries).toEqual([])
  expect(world.webhook.events()).toEqual([])
})

test('two equal subscriptions deliver every event twice, each under its own id', async () => {
  await using world = await subscribed()
  const deliveryMode = { transportType: 'WebHook', address: world.webhook.url, verificationToken: 'other' }
  await world.harness.api(world.token, 'POST', '/subscription', {
    eventFilters: [`${STORE}/instant?type=SMS`],
    deliveryMode,
  })
  await world.harness.control.injectSms({ to: ALICE })
  const events = world.webhook.events()
  expect(new Set(events.map((event) => event.subscriptionId)).size).toBe(2)
  expect(new Set(events.map((event) => event.body['id'])).size).toBe(1)
})

test('events may have several recipients, an MMS without a subject, and a sender without a number', async () => {
  await using world = await subscribed()
  const { control } = world.harness
  await control.injectSms({ to: ['+16505550178', ALICE] })
  await control.injectSms({ to: ALICE, text: null, attachments: [{ contentType: 'image/jpeg' }] })
  await control.injectSms({ to: ALICE, fromExtensionNumber: '102' })
  const [group, mms, internal] = world.webhook.events().map((event) => event.body)
  expect(group?.['to']).toMatchObject([{ phoneNumber: '+16505550178' }, { phoneNumber: ALICE, target: true }])
  expect(group?.['to']).not.toMatchObject([{ target: true }, {}])
  expect(mms).not.toHaveProperty('subject')
  expect(mms?.['attachments']).toMatchObject([{ type: 'MmsAttachment', contentType: 'image/jpeg', size: 461_020 }])
  expect(internal?.['from']).toMatchObject({ extensionNumber: '102' })
  expect(internal?.['from']).not.toHaveProperty('phoneNumber')
})

test('the old form has ~ for the account, a GUID, conversationId and numeric ids', async () => {
  await using world = await subscribed()
  const { messageId } = await world.harness.control.injectSms({ to: ALICE, form: 'old' })
  const [event] = world.webhook.events()
  expect(event?.event).toStartWith('/restapi/v1.0/account/~/extension/')
  expect(event?.uuid).toMatch(/^[0-9a-f]{8}-/)
  expect(event?.body['id']).toBe(Number(messageId))
  expect(event?.body).not.toHaveProperty('conversation')
  expect(event?.body).toHaveProperty('conversationId')
})

test('the same message can be announced again and in copies, and is stored once', async () => {
  await using world = await subscribed()
  const { control } = world.harness
  const { messageId } = await control.injectSms({ to: ALICE, copies: 2 })
  await control.injectSms({ messageId })
  const ids = world.webhook.events().map((event) => event.body['id'])
  expect(ids).toEqual([messageId, messageId, messageId])
  expect(new Set(world.webhook.events().map((event) => event.uuid)).size).toBe(3)
  expect(control.messages()).toHaveLength(1)
})

test('a message that is only stored has no event, and the list shows it', async () => {
  await using world = await subscribed()
  const { messageId } = await world.harness.control.injectSms({ to: ALICE, text: 'missed', deliver: false })
  expect(world.webhook.events()).toEqual([])
  const list = await world.harness.api(world.token, 'GET', '/account/~/extension/~/message-store?direction=Inbound')
  expect(list.body.records).toMatchObject([
    { id: Number(messageId), subject: 'missed', messageStatus: 'Received', readStatus: 'Unread' },
  ])
})

test('event deliveries can be dropped, delayed on the clock, and duplicated', async () => {
  await using world = await subscribed()
  const { control } = world.harness
  control.faultEvents({ kind: 'drop' })
  control.faultEvents({ kind: 'delay', ms: 5000 })
  control.faultEvents({ kind: 'duplicate', copies: 3 })
  const outcomes = []
  for (const text of ['dropped', 'delayed', 'tripled', 'normal']) {
    outcomes.push((await control.injectSms({ to: ALICE, text })).deliveries.map((one) => one.outcome))
  }
  const delivered = 'delivered' as const
  expect(outcomes).toEqual([['dropped'], ['delayed'], [delivered, delivered, delivered], [delivered]])
  const texts = () => world.webhook.events().map((event) => event.body['subject'])
  expect(texts()).toEqual(['tripled', 'tripled', 'tripled', 'normal'])
  world.harness.clock.advance(5000)
  await control.settled()
  expect(texts()).toEqual(['tripled', 'tripled', 'tripled', 'normal', 'delayed'])
})

test('a failed delivery is not repeated', async () => {
  await using world = await subscribed()
  world.webhook.answer = () => new Response('no', { status: 500 })
  const { deliveries } = await world.harness.control.injectSms({ to: ALICE })
  expect(deliveries).toMatchObject([{ outcome: 'failed', status: 500 }])
  world.harness.clock.advance(3_600_000)
  await world.harness.control.settled()
  expect(world.webhook.events()).toHaveLength(1)
})

test('failures over ten minutes blacklist a subscription, and a success in between restarts the ten minutes', async () => {
  await using world = await subscribed()
  const { control } = world.harness
  const inject = async (status: number, afterMs: number) => {
    world.harness.clock.advance(afterMs)
    world.webhook.answer = () => new Response('', { status })
    await control.injectSms({ to: ALICE })
    return control.subscriptions()[0]?.status
  }
  expect(await inject(404, 0)).toBe('Active')
  expect(await inject(200, 599_000)).toBe('Active')
  expect(await inject(404, 1000)).toBe('Active')
  expect(await inject(404, 599_999)).toBe('Active')
  expect(await inject(404, 1)).toBe('Blacklisted')
  const before = world.webhook.requests.length
  await inject(200, 0)
  expect(world.webhook.requests).toHaveLength(before)
  const { body } = await world.harness.api(world.token, 'GET', `/subscription/${world.subscriptionId}`)
  expect(body['blacklistedData']).toMatchObject({ reason: 'Webhook responses with code: [404], reason: [Not Found]' })
})

test('message-store changes follow a message from Queued to Sent, with numeric ids', async () => {
  await using world = await subscribed([`${STORE}?type=SMS&direction=Outbound`])
  const { id } = (await world.harness.sms(world.token)).body
  await world.harness.control.settled()
  world.harness.clock.advance(1000)
  await world.harness.control.settled()
  const changes = world.webhook.events().map((event) => event.body['changes'])
  expect(changes).toEqual([
    [{ type: 'SMS', newCount: 1, updatedCount: 0, newMessageIds: [id] }],
    [{ type: 'SMS', newCount: 0, updatedCount: 1 }],
  ])
  await world.harness.control.injectSms({ to: ALICE })
  expect(world.webhook.events()).toHaveLength(2)
})

test('reminders are sent after the threshold and stop at a renewal', async () => {
  const reminder = '/restapi/v1.0/subscription/~?threshold=100&interval=40'
  await using world = await subscribed([`${STORE}/instant?type=SMS`, reminder], 300)
  const remaining = async (afterMs: number) => {
    world.harness.clock.advance(afterMs)
    await world.harness.control.settled()
    return world.webhook.events().map((event) => event.body['expiresIn'])
  }
  expect(await remaining(199_999)).toEqual([])
  expect(await remaining(1)).toEqual([100])
  expect(await remaining(40_000)).toEqual([100, 60])
  expect(world.webhook.events()[0]?.event).toBe(reminder)
  await world.harness.api(world.token, 'POST', `/subscription/${world.subscriptionId}/renew`)
  expect(await remaining(199_999)).toEqual([100, 60])
  expect(await remaining(1)).toEqual([100, 60, 100])
})
