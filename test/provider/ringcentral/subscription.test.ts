import { describe, expect, test } from 'bun:test'
import { ACCESS_TOKEN, clientOf, errorBody, failureOf, httpServer, valueOf } from './servers.ts'

const ID = '7e4a7486-8df9-4195-8aef-b8d81d3345f6'
const ADDRESS = 'https://gw.example.com/v1/webhooks/provider'

const info = (other: object = {}) => ({
  uri: `https://platform.ringcentral.com/restapi/v1.0/subscription/${ID}`,
  id: ID,
  creationTime: '2026-11-21T02:30:00.162Z',
  status: 'Active',
  eventFilters: ['/restapi/v1.0/account/809640016/extension/629890016/message-store/instant?type=SMS'],
  expirationTime: '2026-11-28T02:30:00.177Z',
  expiresIn: 604799,
  deliveryMode: { transportType: 'WebHook', encryption: false, address: ADDRESS },
  ...other,
})

const read = {
  subscriptionId: ID,
  status: 'Active',
  expiresAt: Date.parse('2026-11-28T02:30:00.177Z'),
  address: ADDRESS,
  disabledFilters: 0,
  topic: 'messages' as const,
}

test('a subscription is created for inbound SMS over a webhook for seven days', async () => {
  using server = httpServer(() => Response.json(info()))
  const request = { address: ADDRESS, verificationToken: 'verification-token', topic: 'messages' } as const
  expect(valueOf(await clientOf(server.url).createSubscription(ACCESS_TOKEN, request))).toEqual({
    ...read,
    requestId: null,
  })
  expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/restapi/v1.0/subscription' })
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
    eventFilters: ['/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'],
    deliveryMode: { transportType: 'WebHook', address: ADDRESS, verificationToken: 'verification-token' },
    expiresIn: 604_800,
  })
})

const OF_THREADS = '/restapi/v1.0/account/809640016/message-threads/entries/sync'

test.each([
  { eventFilters: [OF_THREADS] },
  { eventFilters: [], disabledFilters: [{ filter: OF_THREADS, reason: 'SUB-412' }] },
])('a subscription of message threads has a filter of its own, and is known by it: %j', async (answered) => {
  using server = httpServer(() => Response.json(info(answered)))
  const request = { address: ADDRESS, verificationToken: 'v', topic: 'threads' } as const
  expect(valueOf(await clientOf(server.url).createSubscription(ACCESS_TOKEN, request))).toMatchObject({
    topic: 'threads',
  })
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
    eventFilters: ['/restapi/v1.0/account/~/message-threads/entries/sync'],
  })
})

test('reading and renewing use the address of the subscription', async () => {
  using server = httpServer(() => Response.json(info()))
  const client = clientOf(server.url)
  expect(valueOf(await client.getSubscription(ACCESS_TOKEN, ID))).toEqual(read)
  expect(valueOf(await client.renewSubscription(ACCESS_TOKEN, ID))).toEqual(read)
  expect(server.requests.map((seen) => `${seen.method} ${seen.path}${seen.body}`)).toEqual([
    `GET /restapi/v1.0/subscription/${ID}`,
    `POST /restapi/v1.0/subscription/${ID}/renew`,
  ])
})

test('an id is escaped as one segment of the path', async () => {
  using server = httpServer(() => Response.json(info()))
  await clientOf(server.url).getSubscription(ACCESS_TOKEN, 'a/b?c')
  expect(server.requests[0]?.path).toBe('/restapi/v1.0/subscription/a%2Fb%3Fc')
})

describe('problems of a subscription are reported', () => {
  const rows: [object, object][] = [
    [{ status: 'Blacklisted', blacklistedData: { reason: 'x' } }, { status: 'Blacklisted' }],
    [{ disabledFilters: [{ filter: 'x', reason: 'SUB-412', message: 'y' }] }, { disabledFilters: 1 }],
    [{ deliveryMode: undefined }, { address: '' }],
  ]
  test.each(rows)('%j', async (other, expected) => {
    using server = httpServer(() => Response.json(info(other)))
    expect(valueOf(await clientOf(server.url).getSubscription(ACCESS_TOKEN, ID))).toEqual({ ...read, ...expected })
  })
})

test.each([{ id: undefined }, { status: undefined }, { expirationTime: undefined }, { expirationTime: 'soon' }])(
  '%j is unreadable',
  async (other) => {
    using server = httpServer(() => Response.json(info(other)))
    const request = { address: ADDRESS, verificationToken: 'v', topic: 'messages' } as const
    expect(failureOf(await clientOf(server.url).createSubscription(ACCESS_TOKEN, request)).reason).toBe('ambiguous')
  },
)

test('the list contains only webhooks, and subscriptions of other transports are ignored', async () => {
  const others = [
    { deliveryMode: { transportType: 'WebSocket' } },
    { deliveryMode: { transportType: 'PubNub' }, id: 5 },
    null,
  ]
  using server = httpServer(() => Response.json({ records: [...others, info(), info({ id: 'second' })] }))
  const listed = valueOf(await clientOf(server.url).listSubscriptions(ACCESS_TOKEN))
  expect(listed).toEqual([read, { ...read, subscriptionId: 'second' }])
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/restapi/v1.0/subscription' })
})

test.each([{}, { records: [info({ id: undefined })] }])('the list %j is unreadable', async (body) => {
  using server = httpServer(() => Response.json(body))
  expect(failureOf(await clientOf(server.url).listSubscriptions(ACCESS_TOKEN)).reason).toBe('ambiguous')
})

test('a refused webhook is reported in the provider’s words', async () => {
  using server = httpServer(() =>
    Response.json(errorBody('SUB-524', 'HTTPS certificate is not valid'), { status: 400 }),
  )
  const failure = failureOf(
    await clientOf(server.url).createSubscription(ACCESS_TOKEN, {
      address: ADDRESS,
      verificationToken: 'v9',
      topic: 'messages' as const,
    }),
  )
  expect(failure).toMatchObject({ reason: 'rejected', code: 'SUB-524', message: 'HTTPS certificate is not valid' })
})

describe('deletion', () => {
  test.each([204, 200])('%d deletes', async (status) => {
    using server = httpServer(() => new Response(null, { status }))
    expect(await clientOf(server.url).deleteSubscription(ACCESS_TOKEN, ID)).toEqual({ ok: true, value: undefined })
    expect(server.requests[0]).toMatchObject({ method: 'DELETE', path: `/restapi/v1.0/subscription/${ID}` })
  })

  test('a missing subscription counts as deleted', async () => {
    using server = httpServer(() => Response.json(errorBody('CMN-102', 'not found'), { status: 404 }))
    expect(await clientOf(server.url).deleteSubscription(ACCESS_TOKEN, ID)).toEqual({ ok: true, value: undefined })
  })

  test.each([401, 403, 429, 500])('%d does not', async (status) => {
    using server = httpServer(() => new Response('', { status }))
    expect(failureOf(await clientOf(server.url).deleteSubscription(ACCESS_TOKEN, ID)).status).toBe(status)
  })

  test('reading a missing subscription is a refusal', async () => {
    using server = httpServer(() => Response.json(errorBody('CMN-102', 'not found'), { status: 404 }))
    expect(failureOf(await clientOf(server.url).getSubscription(ACCESS_TOKEN, ID))).toMatchObject({
      reason: 'rejected',
      status: 404,
    })
  })
})
