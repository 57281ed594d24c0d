import { expect, test } from 'bun:test'
import { type Received, startReceiver, verifySignatures } from '../support/receiver.ts'
import { attempts, inboundMessages } from '../support/provider-events.ts'
import { listenTo } from '../support/socket.ts'
import { FROM, createWorld, until } from '../support/world.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const CONTACT = '+15555550177'

test('an inbound SMS reaches the list, two webhooks, a trigger and two sockets, and nothing else', async () => {
  await using first = startReceiver()
  await using second = startReceiver(204)
  second.answer = () => new Response(null, { status: 204 })
  await using called = startReceiver()
  await using foreign = startReceiver()
  await using world = await createWorld()
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: first.url } })
  const other = await world.secondApp(second.url)
  const trigger = (
    await world.json<{ triggerId: string; secret: string }>('POST', '/v1/triggers', {
      body: { callbackUrl: called.url },
    })
  ).body
  const stranger = await world.otherTenant()
  await world.json('POST', '/v1/triggers', { key: stranger.apiKey, body: { callbackUrl: foreign.url } })
  const { body: issued } = await world.json<{ token: string }>('POST', '/v1/ws/token')
  await using byToken = await listenTo(world.url, { token: issued.token })
  await using byKey = await listenTo(world.url, { apiKey: other.apiKey })
  await using outside = await listenTo(world.url, { apiKey: stranger.apiKey })

  const injected = await world.control.injectSms({ from: CONTACT, to: FROM, text: 'Grüße 🌍' })
  expect(injected.deliveries).toMatchObject([{ outcome: 'delivered', status: 200 }])

  const { messages, total } = await inboundMessages(world)
  expect(total).toBe(1)
  const [message] = messages
  expect(message).toEqual({
    messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/),
    jobId: expect.stringMatching(/^job_[0-9a-f]{16}$/),
    appId: world.app.appId,
    tenantId: world.tenantId,
    userId: null,
    direction: 'inbound',
    to: FROM,
    from: CONTACT,
    body: 'Grüße 🌍',
    status: 'received',
    rcMessageId: injected.messageId,
    error: null,
    receivingExtensionId: injected.extensionId,
    createdAt: expect.stringMatching(ISO),
    updatedAt: message!.createdAt,
  })
  const event = {
    type: 'sms_inbound',
    messageId: message!.messageId,
    from: CONTACT,
    to: FROM,
    body: 'Grüße 🌍',
    rcMessageId: injected.messageId,
    tenantId: world.tenantId,
    timestamp: message!.createdAt,
    receivingExtensionId: injected.extensionId,
  }
  const hook = (await first.received(1))[0]!
  checkPost(hook, event, `${message!.messageId}:${world.app.appId}`, world.app.webhookSecret)
  checkPost((await second.received(1))[0]!, event, `${message!.messageId}:${other.appId}`, other.webhookSecret)
  checkPost(
    (await called.received(1))[0]!,
    { ...event, triggerId: trigger.triggerId },
    `${message!.messageId}:${trigger.triggerId}`,
    trigger.secret,
  )
  expect(() => verifySignatures(hook, other.webhookSecret)).toThrow()

  expect(await byToken.received(2)).toEqual([{ type: 'auth_ok' }, event])
  expect(await byKey.received(2)).toEqual([{ type: 'auth_ok' }, event])

  const log = await until(async () => {
    const found = await attempts(world)
    return found.length === 3 ? found : null
  })
  const common = {
    tenantId: world.tenantId,
    messageId: message!.messageId,
    outcome: 'success',
    durationMs: expect.any(Number),
    attemptedAt: expect.stringMatching(ISO),
    attemptNumber: 1,
    correlationId: expect.stringMatching(/^cor_[0-9a-f]{16}$/),
  }
  const expected = [
    {
      ...common,
      kind: 'app',
      appId: world.app.appId,
      url: first.url,
      statusCode: 200,
      deliveryId: `${message!.messageId}:${world.app.appId}`,
    },
    {
      ...common,
      kind: 'app',
      appId: other.appId,
      url: second.url,
      statusCode: 204,
      deliveryId: `${message!.messageId}:${other.appId}`,
    },
    {
      ...common,
      kind: 'trigger',
      triggerId: trigger.triggerId,
      url: called.url,
      statusCode: 200,
      deliveryId: `${message!.messageId}:${trigger.triggerId}`,
    },
  ]
  expect(log).toHaveLength(3)
  for (const one of expected) expect(log).toContainEqual(one)
  expect(new Set(log.map((one) => one['correlationId'])).size).toBe(1)

  // The other tenant sees nothing of the message. Sockets keep the order of events, so no event of it is still on its way.
  await world.control.injectSms({ from: CONTACT, to: FROM, text: 'second' })
  await byKey.received(3)
  expect(outside.messages).toEqual([{ type: 'auth_ok' }])
  expect(await inboundMessages(world, { key: stranger.apiKey })).toMatchObject({ messages: [], total: 0 })
  expect(await attempts(world, '', stranger.apiKey)).toEqual([])
  await called.received(2)
  expect(foreign.requests).toEqual([])
})

function checkPost(post: Received, body: object, deliveryId: string, secret: string): void {
  expect(post.body).toEqual(body as Record<string, unknown>)
  expect(post.method).toBe('POST')
  expect(post.path).toBe('/hook')
  expect(Object.keys(post.headers).toSorted()).toEqual([
    'accept',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
    'x-gateway-signature',
    'x-gateway-timestamp',
  ])
  expect(post.headers['content-type']).toBe('application/json')
  expect(post.headers['webhook-id']).toBe(deliveryId)
  expect(post.headers['webhook-timestamp']).toBe(post.headers['x-gateway-timestamp'])
  verifySignatures(post, secret)
}
