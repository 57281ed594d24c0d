import { expect, test } from 'bun:test'
import { ALICE, answer, BOB, codes, CUSTOMER, SELF, smsBody, startHarness, type SimulatorHarness } from './harness.ts'
import { startWebhook } from './webhook.ts'

const QUEUE = '+16505550190'
const INSTANT = '/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'

/** Alice has a number of her own, and texts for the queue Sales with Bob. */
async function startQueue() {
  const harness = await startHarness()
  const bob = harness.control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  const queue = harness.control.addQueue({ name: 'Sales', numbers: [QUEUE], recipients: [harness.alice, bob] })
  const token = (await harness.login({ login_hint: harness.alice })).access_token
  const list = async (query = '') => {
    const { status, body } = await harness.api(token, 'GET', `${SELF}/message-store${query}`)
    return status === 200 ? body.records.map((one) => one['subject']) : body.errors[0]?.message
  }
  const send = (text: string, from: string) => harness.api(token, 'POST', `${SELF}/sms`, smsBody(text, CUSTOMER, from))
  return {
    harness,
    bob,
    queue: queue.extensionId,
    token,
    list,
    send,
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  }
}

test("a queue's number is in the list of its recipients, and names the queue", async () => {
  await using world = await startQueue()
  const { records } = (await world.harness.api(world.token, 'GET', `${SELF}/phone-number`)).body
  expect(records.map((one) => [one['phoneNumber'], one['usageType'], one['features'], one['extension']])).toMatchObject(
    [
      [
        ALICE,
        'DirectNumber',
        ['SmsSender', 'CallerId', 'MmsSender'],
        { id: Number(world.harness.alice), type: 'User' },
      ],
      [
        QUEUE,
        'DirectNumber',
        ['SmsSender', 'CallerId', 'MmsSender'],
        { id: Number(world.queue), type: 'Department', name: 'Sales' },
      ],
    ],
  )
})

test("what a queue's number sends is in the queue's store, which only owner=Any, Shared or its id lists", async () => {
  await using world = await startQueue()
  const own = await world.send('of Alice', ALICE)
  expect(own.body).not.toHaveProperty('owner')
  const sent = await world.send('of the queue', QUEUE)
  const owner = { extensionId: world.queue, extensionType: 'Department', name: 'Sales' }
  expect([sent.status, sent.body['owner'], sent.body['uri']]).toEqual([
    200,
    owner,
    `${world.harness.simulator.url}/restapi/v1.0/account/809640016/extension/${world.harness.alice}/message-store/${sent.body.id}`,
  ])
  expect(await world.list()).toEqual(['of Alice'])
  expect(await world.list('?owner=Personal')).toEqual(['of Alice'])
  expect(await world.list('?owner=Any')).toEqual(['of the queue', 'of Alice'])
  expect(await world.list('?owner=Shared')).toEqual(['of the queue'])
  expect(await world.list(`?owner=${world.queue}`)).toEqual(['of the queue'])
  expect(await world.list('?owner=Any&ownerExtensionType=Department')).toEqual(['of the queue'])
  expect(await world.list('?owner=Nobody')).toBe('Parameter [owner] value is invalid.')
  const one = await world.harness.api(world.token, 'GET', `${SELF}/message-store/${sent.body.id}`)
  expect(one.body['owner']).toEqual(owner)
})

test('each recipient of a queue sees its messages, with an address of its own, and nobody else does', async () => {
  await using world = await startQueue()
  const { harness } = world
  const carol = harness.control.addExtension({ name: 'Carol', numbers: ['+16505550103'] }).extensionId
  const { id } = (await world.send('of the queue', QUEUE)).body
  const seenBy = async (extension: string) => {
    const { access_token } = await harness.login({ login_hint: extension })
    const list = await harness.api(access_token, 'GET', `${SELF}/message-store?owner=Any`)
    return [
      list.body.records.map((one) => one['uri']),
      codes(await harness.api(access_token, 'GET', `${SELF}/message-store/${id}`)),
    ]
  }
  const address = `${harness.simulator.url}/restapi/v1.0/account/809640016/extension/${world.bob}/message-store/${id}`
  expect(await seenBy(world.bob)).toEqual([[address], [200, undefined]])
  expect(await seenBy(carol)).toEqual([[], [404, 'CMN-102']])
})

test('a platform may refuse `owner`, or accept it and show nothing more', async () => {
  await using world = await startQueue()
  await world.send('of the queue', QUEUE)
  await world.send('of Alice', ALICE)
  world.harness.control.configure({ sharedOwner: 'refused' })
  expect(await world.list('?owner=Any')).toBe('Parameter [owner] value is invalid.')
  expect(await world.list()).toEqual(['of Alice'])
  world.harness.control.configure({ sharedOwner: 'ignored' })
  expect(await world.list('?owner=Any')).toEqual(['of Alice'])
})

test.each([true, false])(
  'a text to a queue reaches its recipients as an event where queueEvents is %p',
  async (queueEvents) => {
    await using world = await startQueue()
    await using webhook = startWebhook()
    world.harness.control.configure({ queueEvents })
    const deliveryMode = { transportType: 'WebHook', address: webhook.url }
    await world.harness.api(world.token, 'POST', '/subscription', { eventFilters: [INSTANT], deliveryMode })
    const injected = await world.harness.control.injectSms({ to: QUEUE, from: CUSTOMER, text: 'To the queue' })
    expect(injected.extensionId).toBe(world.queue)
    const bodies = webhook.events().map((event) => event['body'])
    const owner = { extensionId: world.queue, extensionType: 'Department', name: 'Sales' }
    expect(bodies).toMatchObject(
      queueEvents
        ? [{ subject: 'To the queue', to: [{ phoneNumber: QUEUE, name: 'Sales', target: true }], owner }]
        : [],
    )
    expect(await world.list('?owner=Any&direction=Inbound')).toEqual(['To the queue'])
    expect(await world.list('?direction=Inbound')).toEqual([])
  },
)

test('a queue cannot log in', async () => {
  await using world = await startQueue()
  const refused = await answer(
    fetch(
      `${world.harness.simulator.url}/restapi/oauth/authorize?response_type=code&client_id=app&redirect_uri=https://gw.example.com/cb&login_hint=${world.queue}`,
    ),
  )
  expect([refused.status, refused.body.error]).toEqual([400, 'access_denied'])
})

test('features name what the account and the user have', async () => {
  await using world = await startQueue()
  const features = async (query: string) =>
    (await world.harness.api(world.token, 'GET', `${SELF}/features${query}`)).body.records.map((one) => [
      one['id'],
      one['available'],
    ])
  expect(await features('?featureId=MessageThreads')).toEqual([['MessageThreads', false]])
  expect(await features('?featureId=CallQueueSmsRecipient&featureId=SMSSending&availableOnly=true')).toEqual([
    ['SMSSending', true],
    ['CallQueueSmsRecipient', true],
  ])
  world.harness.control.configure({ messageThreads: true })
  const { records } = (await world.harness.api(world.token, 'GET', `${SELF}/features?featureId=MessageThreads`)).body
  expect(records[0]).toMatchObject({ available: true, params: [{ name: 'callQueueSupported', value: 'true' }, {}] })
})

test('the SMS configuration of a number has its campaign, and a toll-free number has none', async () => {
  await using world = await startQueue()
  const { control, alice } = world.harness
  control.addNumber({ extensionId: alice, phoneNumber: '+18885550188' })
  control.addNumber({
    extensionId: alice,
    phoneNumber: '+16505550180',
    campaign: { status: 'Submitted', tier: 'Sole' },
  })
  const { records } = (await world.harness.api(world.token, 'GET', `${SELF}/phone-number`)).body
  const configured = async (phoneNumber: string) => {
    const id = records.find((one) => one['phoneNumber'] === phoneNumber)?.['id']
    return (await world.harness.api(world.token, 'GET', `${SELF}/phone-number/${String(id)}/sms-configuration`)).body
  }
  expect(await configured(ALICE)).toMatchObject({
    smsCampaignInfo: { status: 'Confirmed', registrationTier: 'LowVolume' },
  })
  expect(await configured('+16505550180')).toMatchObject({ smsCampaignInfo: { status: 'Submitted' } })
  expect(records.find((one) => one['phoneNumber'] === '+16505550180')).toMatchObject({ features: ['CallerId'] })
  expect(await configured('+18885550188')).not.toHaveProperty('smsCampaignInfo')
  expect(records.find((one) => one['phoneNumber'] === '+18885550188')).toMatchObject({
    paymentType: 'TollFree',
    features: ['SmsSender', 'CallerId'],
  })
  const unknown = await world.harness.api(world.token, 'GET', `${SELF}/phone-number/1/sms-configuration`)
  expect(codes(unknown)).toEqual([404, 'CMN-102'])
})

/** A harness whose records write numbers in three forms. */
async function startForms(): Promise<SimulatorHarness> {
  const harness = await startHarness()
  harness.control.configure({ numberForms: ['e164', 'digits', 'american'] })
  return harness
}

test('records and events write numbers in the configured forms, by turns, and still find them', async () => {
  await using harness = await startForms()
  const { access_token } = await harness.login()
  for (let at = 0; at < 3; at++) await harness.sms(access_token, `text ${at}`)
  const { records } = (await harness.api(access_token, 'GET', `${SELF}/message-store?phoneNumber=%2B16505550123`)).body
  const numbers = records.map((one) => (one['to'] as { phoneNumber: string }[])[0]?.phoneNumber)
  expect(new Set(numbers)).toEqual(new Set(['+16505550123', '16505550123', '(650)555-0123']))
})
