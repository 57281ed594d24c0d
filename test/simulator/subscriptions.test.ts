import { expect, test } from 'bun:test'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { BOB, codes, startHarness, type ParsedAnswer, type SimulatorHarness } from './harness.ts'
import { SELF_SIGNED } from './self-signed.ts'
import { echo, startWebhook } from './webhook.ts'

const INSTANT = '/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'

const request = (address: string, changes: object = {}) => ({
  eventFilters: [INSTANT],
  deliveryMode: { transportType: 'WebHook', address, verificationToken: 'verify-me' },
  expiresIn: 604_800,
  ...changes,
})

const subscribe = (
  harness: SimulatorHarness,
  token: string,
  address: string,
  changes: object = {},
): Promise<ParsedAnswer> => harness.api(token, 'POST', '/subscription', request(address, changes))

test('a creation makes a handshake and is answered with real ids, without the verification token', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const created = await subscribe(harness, access_token, webhook.url)
  expect(created.status).toBe(200)
  expect(created.text).not.toContain('verify-me')
  expect(created.body).toMatchObject({
    status: 'Active',
    creationTime: '2026-11-21T02:30:00.000Z',
    expirationTime: '2026-11-28T02:30:00.000Z',
    eventFilters: [INSTANT.replace('~', '809640016').replace('~', harness.alice)],
    deliveryMode: { transportType: 'WebHook', encryption: false, address: webhook.url },
  })
  const [handshake] = webhook.requests
  expect(handshake?.body).toBe('')
  expect(handshake?.headers.get('content-type')).toBe('application/json')
  expect(handshake?.headers.get('content-length')).toBe('0')
  expect(handshake?.headers.get('verification-token')).toBe('verify-me')
})

const withToken =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (call: Request) =>
    new Response(body, { status, headers: { ...Object.fromEntries(echo(call).headers), ...headers } })

const json = { 'content-type': 'application/json' }
const HANDSHAKES: [string, (call: Request) => Response | Promise<Response>, string | null][] = [
  ['an exact echo', echo, null],
  ['no echo', () => new Response('', { headers: json }), 'SUB-520'],
  ['another token', () => new Response('', { headers: { ...json, 'validation-token': 'x' } }), 'SUB-520'],
  ['status 204', withToken(204, ''), 'SUB-522'],
  ['status 500', withToken(500, 'no'), 'SUB-522'],
  ['a redirect', withToken(302, '', { location: '/elsewhere' }), 'SUB-522'],
  ['a body over 1024 bytes', withToken(200, 'x'.repeat(1025)), 'SUB-525'],
  ['headers over 1024 bytes', withToken(200, '', { 'x-padding': 'x'.repeat(1000) }), 'SUB-525'],
  [
    'no content type',
    (call) => new Response(null, { headers: { 'validation-token': call.headers.get('validation-token') ?? '' } }),
    'SUB-525',
  ],
  ['a chunked body', (call) => new Response(new Blob(['ok']).stream(), { headers: echo(call).headers }), null],
]

test.each(HANDSHAKES)('a webhook that answers the handshake with %s', async (_, reply, code) => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  webhook.answer = reply
  const { access_token } = await harness.login()
  const created = await subscribe(harness, access_token, webhook.url)
  if (code === null) expect(created.status).toBe(200)
  else expect([...codes(created), created.body.errorCode]).toEqual([400, code, code])
  expect(harness.control.subscriptions()).toHaveLength(code === null ? 1 : 0)
})

test('a handshake answer may have 1024 bytes, but not one more', async () => {
  await using harness = await startHarness()
  const sizes = { wanted: 1024 }
  const server = createTcpServer((socket) =>
    socket.on('data', (data) => {
      const token = /validation-token: (\S+)/i.exec(data.toString())?.[1] ?? ''
      const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nValidation-Token: ${token}\r\nContent-Length: `
      const left = sizes.wanted - head.length - '000\r\n\r\n'.length
      socket.write(`${head}${left}\r\n\r\n${'x'.repeat(left)}`)
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { access_token } = await harness.login()
  expect((await subscribe(harness, access_token, address)).status).toBe(200)
  sizes.wanted = 1025
  expect(codes(await subscribe(harness, access_token, address))).toEqual([400, 'SUB-525'])
  server.close()
})

test('an unreachable or silent webhook is SUB-521', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  harness.control.configure({ webhookTimeoutMs: 50 })
  const { access_token } = await harness.login()
  expect(codes(await subscribe(harness, access_token, 'http://127.0.0.1:1/hook'))).toEqual([400, 'SUB-521'])
  const never = Promise.withResolvers<Response>()
  webhook.answer = () => never.promise
  expect(codes(await subscribe(harness, access_token, webhook.url))).toEqual([400, 'SUB-521'])
  never.resolve(new Response())
})

test('a webhook that closes its connection before the end of its answer is SUB-521', async () => {
  await using harness = await startHarness()
  const server = createTcpServer((socket) =>
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhalf')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { access_token } = await harness.login()
  expect(codes(await subscribe(harness, access_token, address))).toEqual([400, 'SUB-521'])
  server.close()
})

test('an https webhook with an untrusted certificate is SUB-524', async () => {
  await using harness = await startHarness()
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: SELF_SIGNED, fetch: echo })
  const { access_token } = await harness.login()
  for (const host of ['localhost', '127.0.0.1']) {
    expect(codes(await subscribe(harness, access_token, `https://${host}:${server.port}/`))).toEqual([400, 'SUB-524'])
  }
  await server.stop(true)
})

test('an http address is SUB-523 unless http is allowed', async () => {
  await using harness = await startHarness({ allowHttpWebhooks: false })
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  expect(codes(await subscribe(harness, access_token, webhook.url))).toEqual([400, 'SUB-523'])
  expect(webhook.requests).toEqual([])
})

const REFUSED: [string, object, number, string][] = [
  ['a wrong transport', { deliveryMode: { transportType: 'PubNub', address: 'https://x' } }, 400, 'CMN-101'],
  ['an invalid address', { deliveryMode: { transportType: 'WebHook', address: 'nowhere' } }, 400, 'CMN-101'],
  ['no filters', { eventFilters: [] }, 400, 'CMN-101'],
  ['an unknown filter', { eventFilters: ['/restapi/v1.0/account/~/presence'] }, 400, 'SUB-508'],
  ['only a reminder', { eventFilters: ['/restapi/v1.0/subscription/~?threshold=60&interval=15'] }, 400, 'SUB-515'],
  ["another extension's messages", { eventFilters: [INSTANT.replace('extension/~', 'extension/1')] }, 403, 'SUB-405'],
  ["another account's messages", { eventFilters: [INSTANT.replace('account/~', 'account/1')] }, 403, 'SUB-406'],
  ['a lifetime of zero', { expiresIn: 0 }, 400, 'CMN-101'],
]

test.each(REFUSED)('a subscription with %s is refused before any handshake', async (_, changes, status, code) => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  expect(codes(await subscribe(harness, access_token, webhook.url, changes))).toEqual([status, code])
  expect(webhook.requests).toEqual([])
})

test('equal subscriptions are not merged, and the thirty-first is refused', async () => {
  await using harness = await startHarness({ limits: false })
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const ids = new Set<unknown>()
  for (let count = 0; count < 30; count++) ids.add((await subscribe(harness, access_token, webhook.url)).body.id)
  expect(ids.size).toBe(30)
  expect(codes(await subscribe(harness, access_token, webhook.url))).toEqual([403, 'SUB-505'])
  expect((await harness.api(access_token, 'GET', '/subscription')).body.records).toHaveLength(30)
})

test('a renewal keeps the lifetime of the subscription; a deletion is answered with 204, then 404', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const { id } = (await subscribe(harness, access_token, webhook.url, { expiresIn: 3000 })).body
  harness.clock.advance(1_000_000)
  expect((await harness.api(access_token, 'GET', `/subscription/${id}`)).body['expiresIn']).toBe(2000)
  const renewed = await harness.api(access_token, 'POST', `/subscription/${id}/renew`)
  expect([renewed.status, renewed.body['expiresIn']]).toEqual([200, 3000])
  expect(webhook.requests).toHaveLength(1)
  const deleted = await harness.api(access_token, 'DELETE', `/subscription/${id}`)
  expect([deleted.status, deleted.text]).toEqual([204, ''])
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/renew'],
    ['PUT', ''],
    ['DELETE', ''],
  ] as const) {
    expect(codes(await harness.api(access_token, method, `/subscription/${id}${path}`))).toEqual([404, 'CMN-102'])
  }
})

test('an expired subscription is not found', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const { id } = (await subscribe(harness, access_token, webhook.url, { expiresIn: 60 })).body
  harness.clock.advance(60_000)
  const gone = await harness.api(access_token, 'POST', `/subscription/${id}/renew`)
  expect(gone.body['message']).toBe('Resource for parameter [subscriptionId] is not found')
  expect((await harness.api(access_token, 'GET', '/subscription')).body.records).toEqual([])
})

test('PUT changes filters and lifetime, but not the address', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const { id } = (await subscribe(harness, access_token, webhook.url)).body
  const filters = [INSTANT, '/restapi/v1.0/account/~/extension/~/message-store']
  const changed = await harness.api(
    access_token,
    'PUT',
    `/subscription/${id}`,
    request('https://evil.example', { eventFilters: filters, expiresIn: 60 }),
  )
  expect(changed.body['eventFilters']).toHaveLength(2)
  expect(changed.body).toMatchObject({ expiresIn: 60, deliveryMode: { address: webhook.url } })
  expect(webhook.requests).toHaveLength(1)
})

test("another extension's subscription is not found", async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const bob = harness.control.addExtension({ numbers: [BOB] }).extensionId
  const { id } = (await subscribe(harness, (await harness.login()).access_token, webhook.url)).body
  const other = await harness.login({ login_hint: bob })
  expect((await harness.api(other.access_token, 'DELETE', `/subscription/${id}`)).status).toBe(404)
  expect(harness.control.subscriptions()).toHaveLength(1)
})

test('the control API blacklists, expires and deletes subscriptions, and can refuse filters', async () => {
  await using harness = await startHarness()
  await using webhook = startWebhook()
  const { access_token } = await harness.login()
  const create = async () => String((await subscribe(harness, access_token, webhook.url)).body.id)
  const get = (id: string) => harness.api(access_token, 'GET', `/subscription/${id}`)
  const [blacklisted, expired, deleted] = [await create(), await create(), await create()]
  harness.control.blacklistSubscription({ subscriptionId: blacklisted })
  harness.control.expireSubscription({ subscriptionId: expired })
  harness.control.deleteSubscription({ subscriptionId: deleted })
  expect((await get(blacklisted)).body).toMatchObject({
    status: 'Blacklisted',
    blacklistedData: { blacklistedAt: '2026-11-21T02:30:00.000Z' },
  })
  expect([(await get(expired)).status, (await get(deleted)).status]).toEqual([404, 404])
  harness.control.configure({ refuseFilters: true })
  const refused = (await subscribe(harness, access_token, webhook.url)).body
  expect(refused).toMatchObject({ eventFilters: [], disabledFilters: [{ reason: 'SUB-412' }] })
})
