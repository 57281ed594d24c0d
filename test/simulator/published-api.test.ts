import { expect, test } from 'bun:test'
import { ROUTES } from '../../src/simulator/routes.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operationOf, PublishedApi } from '../support/published-api.ts'
import { DEVIATIONS } from '../support/published-deviations.ts'
import { createWorld, FROM, TO, until } from '../support/world.ts'
import { ALICE, CUSTOMER, SELF, smsBody, startHarness } from './harness.ts'
import { startWebhook } from './webhook.ts'

/** The group of the reference, or null where it throttles nothing. */
const groupOf = (group: string | undefined): string | null =>
  group === undefined || group === 'NoThrottling' ? null : group.toLowerCase()

const QUEUE = '+15555550190'
/** The file names a permission otherwise than the guide, docs/notifications/websockets/subscribing.md. */
const IN_THE_GUIDE: Readonly<Record<string, string>> = { WebSocket: 'WebSocketsSubscription' }
const permissionOf = (name: string | undefined): string | null =>
  name === undefined ? null : (IN_THE_GUIDE[name] ?? name)

/** The gateway uses these, and each is compared at least once. */
const USED = [
  'authorize',
  'consents',
  'content',
  'extension',
  'features',
  'message-store',
  'phone-number',
  'revoke',
  'sms',
  'sms-configuration',
  'subscription-create',
  'subscription-delete',
  'subscription-list',
  'subscription-renew',
  'token',
]

test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s has the group and the permission that RingCentral publishes for it',
  (_, route) => {
    const operation = operationOf(route)
    expect([groupOf(operation?.['x-throttling-group']), permissionOf(operation?.['x-app-permission'])]).toEqual([
      route.group,
      route.permission,
    ])
  },
)

test('every request of the gateway, and every answer and event that it gets, is as RingCentral publishes it', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false })
  const { control } = world
  const published = new PublishedApi()
  world.simulator?.onCall(published.note)
  const calls = (route: string) => control.requests({ route }).length
  control.configure({ maxSubscriptionSeconds: 7200 })
  control.addQueue({ name: 'Sales', numbers: [QUEUE], recipients: [control.extensions()[0]?.extensionId ?? ''] })

  expect((await world.connect()).status).toBe(200)
  // An answer that is lost is looked up, and a message that was sent is asked about.
  control.fault({ route: 'sms', fault: { kind: 'accept-then-respond', status: 502 } })
  const messages = [await world.send({ to: TO }), await world.send({ from: QUEUE })]
  const lookups = calls('message-store')
  await until(() => {
    clock.advance(1000)
    return calls('message-store') > lookups + 1
  })
  for (const id of messages) await world.untilStatus(id)
  const attachments = [{ contentType: 'image/png', data: btoa('a picture') }]
  const { messageId } = await control.injectSms({ from: TO, to: FROM, text: 'With a picture', attachments })
  const inbound = await until(async () => {
    const { body } = await world.json<{ messages: { messageId: string }[] }>(
      'GET',
      '/v1/sms/messages?direction=inbound',
    )
    return body.messages[0]
  })
  const [picture] = (
    await world.json<{ attachments: { attachmentId: string }[] }>('GET', `/v1/sms/${inbound.messageId}/attachments`)
  ).body.attachments
  expect(
    await (await world.call('GET', `/v1/sms/${inbound.messageId}/attachments/${picture?.attachmentId}`)).text(),
  ).toBe('a picture')
  expect(messageId).not.toBe('')
  // Tokens are refreshed and subscriptions renewed with time.
  await until(() => {
    clock.advance(60_000)
    return calls('subscription-renew') > 0 && calls('token') > 1
  })
  expect((await world.call('POST', '/v1/rc/disconnect')).status).toBeLessThan(300)

  expect(published.wrongRequests).toEqual([])
  expect(published.wrongAnswers).toEqual([])
  const { requests, answers, events } = published.compared
  console.log(`The gateway: ${requests} requests, ${answers} answers and ${events} events compared`)
  expect(Object.keys(control.counters().requests).toSorted()).toEqual(USED)
})

test('with sockets, too: tickets, frames, and the subscription over the socket', async () => {
  await using world = await createWorld({ env: { RC_EVENTS: 'websocket' } })
  const { control } = world
  const published = new PublishedApi()
  world.simulator?.onCall(published.note)
  const isSubscribed = () => control.sockets().some(({ subscriptionId }) => subscriptionId !== null)
  await until(isSubscribed)
  control.faultSockets({ kind: 'cut' })
  control.faultSockets({ kind: 'forget' })
  await until(() => control.requests({ route: 'subscription-create' }).length > 1 && isSubscribed())
  await control.injectSms({ from: TO, to: FROM, text: 'Over a socket' })
  await until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages?direction=inbound')).body.total)
  expect([published.wrongRequests, published.wrongAnswers]).toEqual([[], []])
  expect(published.compared.events).toBe(1)
  expect(control.counters().requests).toMatchObject({ wstoken: 2, 'subscription-create': 2, socket: 2 })
})

test.each(['webhook', 'websocket'])('with Shared Inbox, too, and events by %s', async (events) => {
  await using world = await createWorld({ env: { RC_EVENTS: events } })
  const { control, gateway, tenantId } = world
  const published = new PublishedApi()
  world.simulator?.onCall(published.note)
  const extensionId = control.extensions()[0]?.extensionId ?? ''
  control.configure({ messageThreads: true })
  control.addQueue({ numbers: [QUEUE], recipients: [extensionId] })
  await gateway.numbers.read({ tenantId, extensionId })
  await until(() => control.subscriptions().length === 2)
  const attachments = [{ contentType: 'image/png', data: btoa('a picture') }]
  for (const from of [TO, '+15555550141', '+15555550142', '+15555550143'])
    await control.injectSms({ from, to: QUEUE, text: 'Shared', attachments })
  const path = '/v1/sms/messages?direction=inbound'
  await until(async () => (await world.json<{ total: number }>('GET', path)).body.total === 4)
  const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', path)
  const files = `/v1/sms/${body.messages[0]?.messageId}/attachments`
  const [picture] = (await world.json<{ attachments: { attachmentId: string }[] }>('GET', files)).body.attachments
  expect(await (await world.call('GET', `${files}/${picture?.attachmentId}`)).text()).toBe('a picture')
  expect([published.wrongRequests, published.wrongAnswers]).toEqual([[], []])
  expect(Object.keys(control.counters().requests)).toEqual(
    expect.arrayContaining(['features', 'thread-entries', 'thread-messages', 'thread-content']),
  )
})

test('the simulator deviates from what is published in at most ten ways, and in each of them', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { control, published, simulator } = harness
  const { access_token } = await harness.login()
  const queue = control.addQueue({ numbers: [QUEUE], recipients: [harness.alice] })
  const { id } = (await harness.api(access_token, 'POST', `${SELF}/sms`, smsBody('x', CUSTOMER, QUEUE))).body
  await harness.api(access_token, 'GET', `${SELF}/message-store/${id}`)
  await harness.api(access_token, 'GET', `${SELF}/message-store/${id}/content/${id}`)
  const deliveryMode = { transportType: 'WebHook', address: webhook.url }
  const eventFilters = ['', '/instant?type=SMS'].map((end) => `/restapi/v1.0/account/~/extension/~/message-store${end}`)
  const made = await harness.api(access_token, 'POST', '/subscription', { eventFilters, deliveryMode })
  await harness.api(access_token, 'GET', `/subscription/${made.body.id}`)
  await control.injectSms({ to: ALICE })
  await control.injectSms({ to: QUEUE, form: 'old' })
  await harness.token({ grant_type: 'nothing' })
  await harness.api(access_token, 'GET', '/nothing')
  control.configure({ loginPage: true })
  const page = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: 'https://gw.example.com/cb',
  })
  await fetch(`${simulator.url}/restapi/oauth/authorize?${page}`)
  expect(queue.type).toBe('Department')
  expect(DEVIATIONS.filter((one) => !published.compared.deviations.has(one))).toEqual([])
  expect(DEVIATIONS.length).toBeLessThanOrEqual(10)
})

test('what is not in the list of routes is RingCentral’s own 404', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  for (const [method, path] of [
    ['GET', `${SELF}/message-sync`],
    ['GET', `${SELF}/mms`],
    ['PUT', `${SELF}/message-store/1`],
    ['GET', '/account/~'],
    ['GET', `${SELF}/sms`],
  ] as const) {
    const { status, body } = await harness.api(access_token, method, path)
    expect([method, path, status, body.errors]).toEqual([
      method,
      path,
      404,
      [{ errorCode: 'CMN-120', message: 'Invalid URI' }],
    ])
  }
})

test('an answer, an event or a request that differs is noticed', () => {
  const published = new PublishedApi()
  const call = { at: 0, durationMs: 1, fault: null, method: 'GET', route: 'extension', direction: 'out' as const }
  const json = { 'content-type': 'application/json' }
  const request = { headers: json, body: '' }
  const path = '/restapi/v1.0/account/~/extension/~'
  const answering = (body: unknown) => ({ status: 200, headers: json, body: JSON.stringify(body) })
  published.note({ ...call, path, request, response: answering({ id: 'one', nickname: 'Al' }) })
  published.note({
    ...call,
    path: `${path}/message-store?colour=red&page=x`,
    request,
    response: answering({ records: [] }),
  })
  const event = { event: '/x/message-store/instant?type=SMS', body: { subject: 1 } }
  published.note({
    ...call,
    path: '/',
    direction: 'in',
    request: { headers: json, body: JSON.stringify(event) },
    response: null,
  })
  expect(published.wrongAnswers).toEqual([
    'answer readExtension 200: /id type ["integer"]',
    'answer readExtension 200:  unknown ["nickname"]',
    'answer listMessages 200:  required ["navigation"]',
    'answer listMessages 200:  required ["paging"]',
    'event InstantMessageEvent: /body/subject type ["string"]',
  ])
  expect(published.wrongRequests).toEqual([
    'request listMessages:  parameter ["colour"]',
    'request listMessages ?page:  type ["integer"]',
  ])
})
