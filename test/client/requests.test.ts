import { describe, expect, test } from 'bun:test'
import { Sgw, SgwError } from '../../src/client/client.ts'
import { exchange } from '../support/raw-http.ts'
import { FROM, TO, createWorld } from '../support/world.ts'
import { AnsweringServer, answer, errorOf } from './answers.ts'

const MESSAGE = { to: TO, from: FROM, body: 'Hello' }

describe('a request', () => {
  test('carries the key, the app and JSON to the address below baseUrl', async () => {
    using server = new AnsweringServer(answer(200))
    const sgw = server.client({ baseUrl: `${server.url}proxy/sgw/`, appId: 'app_1' })
    await sgw.triggers.create({ callbackUrl: 'https://example.com' })
    const [{ method, path, headers, body } = {} as never] = server.requests
    expect([method, path, body]).toEqual(['POST', '/proxy/sgw/v1/triggers', '{"callbackUrl":"https://example.com"}'])
    expect([headers.get('authorization'), headers.get('sgw-app')]).toEqual(['Bearer sgw_key', 'app_1'])
    expect(headers.get('content-type')).toBe('application/json')
  })

  test('has no header of an app without appId, and no body without one', async () => {
    using server = new AnsweringServer(answer(200))
    await server.client().apps.rotateKey('app_1')
    const [{ headers, body } = {} as never] = server.requests
    expect([headers.has('sgw-app'), headers.has('content-type'), body]).toEqual([false, false, ''])
  })

  test('escapes ids, and writes times of filters', async () => {
    using server = new AnsweringServer(answer(200, { messages: [], days: [] }))
    const sgw = server.client()
    await sgw.deliveries.redeliver('msg/1:app?')
    await sgw.sms.list({ from: FROM, startDate: new Date(0), limit: 5 }).page(2)
    await sgw.usage({ endDate: '2026-11-24' })
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/webhook-deliveries/msg%2F1%3Aapp%3F/redeliver',
      '/v1/sms/messages?from=%2B15555550100&startDate=1970-01-01T00%3A00%3A00.000Z&limit=5&page=2',
      '/v1/usage?endDate=2026-11-24',
    ])
  })

  test('can be made for endpoints without a method', async () => {
    using server = new AnsweringServer(answer(200, { alerts: [] }))
    const query = { since: undefined, limit: 5 }
    const alerts = await server.client().request<{ alerts: unknown[] }>('GET', '/v1/operator/alerts', { query })
    expect(alerts).toEqual({ alerts: [] })
    expect(server.requests[0]?.path).toBe('/v1/operator/alerts?limit=5')
  })

  test('makes absolute links', async () => {
    using server = new AnsweringServer(answer(200, { connectUrl: '/v1/rc/connect?token=x' }))
    expect(await server.client().connection.connectLink()).toBe(`${server.url}v1/rc/connect?token=x`)
    expect(await server.client().connection.inviteLink()).toBe(`${server.url}v1/rc/connect?token=x`)
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/rc/connect-token', '/v1/rc/invite-token'])
  })
})

describe('an error', () => {
  test('has the status, the text and the request id of the answer', async () => {
    using server = new AnsweringServer(answer(404, { error: 'Message not found' }, { 'X-Request-Id': 'req_1' }))
    const error = await errorOf(server.client().sms.get('msg_1'))
    expect(error).toBeInstanceOf(SgwError)
    expect(error).toMatchObject({ status: 404, message: 'Message not found', requestId: 'req_1', name: 'SgwError' })
    expect(error.retryAfterSeconds).toBeNull()
  })

  test('has a text of its own where a proxy answered', async () => {
    using page = new AnsweringServer(new Response('<html>', { status: 413 }))
    expect(await errorOf(page.client().sms.send(MESSAGE))).toMatchObject({ status: 413, message: 'HTTP 413' })
    using other = new AnsweringServer(new Response('<html>'))
    expect((await errorOf(other.client().me())).message).toBe('The answer is not JSON: check baseUrl')
  })

  test('names the cause if baseUrl ends in /v1, and a slash at its end is none', async () => {
    await using world = await createWorld()
    const meAt = (end: string) => new Sgw({ baseUrl: `${world.url}${end}`, apiKey: world.key }).me()
    for (const end of ['/v1', '/v1/'])
      expect(await errorOf(meAt(end))).toMatchObject({ status: 404, message: 'Not found: baseUrl must not end in /v1' })
    for (const end of ['', '/', '//']) expect(await meAt(end)).toMatchObject({ appId: world.app.appId })
    // A proxy may have the gateway at such a path.
    using below = new AnsweringServer(answer(404, { error: 'Message not found' }))
    const proxied = below.client({ baseUrl: `${below.url}sms/v1` })
    expect((await errorOf(proxied.sms.get('msg_1'))).message).toBe('Message not found')
    // Without a client, because `fetch` removes the second slash.
    const head = `Host: gateway\r\nAuthorization: Bearer ${world.key}\r\nContent-Length: 0\r\n\r\n`
    const raw = await exchange(world.url, `POST //v1/sms/send HTTP/1.1\r\n${head}`)
    expect(raw).toMatch(/^HTTP\/1\.1 404 [^]+\r\n\r\n\{"error":"Not found"\}$/)
  })

  test('has status 0 without an answer, and says what was called', async () => {
    const sgw = unreachable([])
    const error = await errorOf(sgw.apps.rotateKey('app_1'))
    expect(error).toMatchObject({ status: 0, requestId: null, retryAfterSeconds: null })
    expect(error.message).toBe('POST http://sms.test/v1/apps/app_1/rotate-key: refused')
    expect(error.cause).toBeInstanceOf(TypeError)
  })

  test('says why there was no connection where `fetch` names that only in its cause, as in Node.js', async () => {
    const error = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
    const sgw = new Sgw({
      baseUrl: 'http://sms.test',
      apiKey: 'sgw_a',
      maxRetries: 0,
      fetch: () => Promise.reject(error),
    })
    expect((await errorOf(sgw.me())).message).toBe('GET http://sms.test/v1/me: fetch failed (ECONNREFUSED)')
  })

  test('comes at once for a key that no header can carry, and does not repeat it', () => {
    for (const apiKey of ['sgw_secret\nX-Other: 1', 'sgw_secret…'])
      expect(() => new Sgw({ baseUrl: 'http://sms.test', apiKey })).toThrow(
        new SgwError('The apiKey has characters that no key has'),
      )
    expect(() => new Sgw({ baseUrl: 'http://sms.test', apiKey: 'sgw_of_a_file\n' })).not.toThrow()
  })

  test('comes when an answer takes longer than timeoutMs, also in the middle of its body', async () => {
    using silent = new AnsweringServer(() => new Promise<Response>(() => undefined))
    const sgw = silent.client({ timeoutMs: 50, maxRetries: 0 })
    expect((await errorOf(sgw.me())).message).toBe(`GET ${silent.url}v1/me: no answer within 50 ms`)
    using half = new AnsweringServer(() => new Response(new ReadableStream({ start: (body) => body.enqueue('{') })))
    expect((await errorOf(half.client({ timeoutMs: 50, maxRetries: 0 }).me())).status).toBe(0)
  })
})

describe('a failed request is made again', () => {
  test.each([500, 502, 408, 503])('after %i, if it reads or sets', async (status) => {
    using server = new AnsweringServer(answer(status), answer(200))
    await server.client().me()
    using second = new AnsweringServer(answer(status), answer(200))
    await second.client().optOuts.setPolicy('block')
    expect([server.requests.length, second.requests.length]).toEqual([2, 2])
  })

  test('after a lost answer, if it reads, sets, sends or previews', async () => {
    const calls: string[] = []
    const sgw = unreachable(calls, { maxRetries: 1 })
    const repeated = [
      () => sgw.me(),
      () => sgw.optOuts.setPolicy('block'),
      () => sgw.sms.send(MESSAGE),
      () => sgw.sms.preview('Hello'),
    ]
    await Promise.all(repeated.map((call) => errorOf(call())))
    expect(calls.toSorted()).toEqual(['GET', 'GET', 'POST', 'POST', 'POST', 'POST', 'PUT', 'PUT'])
  })

  test('never after a lost answer or 5xx, if it may have done something', async () => {
    const calls: string[] = []
    const sgw = unreachable(calls)
    await errorOf(sgw.apps.register({ name: 'App', tenantId: 'tenant_1' }))
    await errorOf(sgw.apps.rotateKey('app_1'))
    await errorOf(sgw.sms.cancel('msg_1'))
    await errorOf(sgw.deliveries.recover({ since: new Date() }))
    expect(calls).toEqual(['POST', 'POST', 'DELETE', 'POST'])
    using server = new AnsweringServer(answer(500), answer(200))
    expect((await errorOf(server.client().triggers.create({ callbackUrl: 'x' }))).status).toBe(500)
    expect(server.requests).toHaveLength(1)
  })

  test('as often as maxRetries says', async () => {
    const counts = [0, 1, 3].map(async (maxRetries) => {
      using server = new AnsweringServer(answer(500))
      await errorOf(server.client({ maxRetries }).me())
      return server.requests.length
    })
    expect(await Promise.all(counts)).toEqual([1, 2, 4])
  })

  test.each([429, 503])('after %i with Retry-After, whatever it does, and not before', async (status) => {
    using server = new AnsweringServer(answer(status, {}, { 'Retry-After': '1' }), answer(200, { apiKey: 'sgw_' }))
    const start = performance.now()
    expect(await server.client().apps.rotateKey('app_1')).toMatchObject({ apiKey: 'sgw_' })
    expect(performance.now() - start).toBeGreaterThan(990)
    expect(server.requests).toHaveLength(2)
  })

  test('after a Retry-After that is a date', async () => {
    using server = new AnsweringServer(
      () => answer(429, {}, { 'Retry-After': new Date(Date.now() - 1).toUTCString() }),
      answer(200),
    )
    await server.client().me()
    expect(server.requests).toHaveLength(2)
  })

  test('not after a Retry-After of more than 60 seconds', async () => {
    using server = new AnsweringServer(answer(429, { error: 'Too many requests' }, { 'Retry-After': '61' }))
    const error = await errorOf(server.client().me())
    expect(error).toMatchObject({ status: 429, message: 'Too many requests', retryAfterSeconds: 61 })
    expect(server.requests).toHaveLength(1)
  })

  test.each([400, 401, 403, 404, 409, 429])('never after %i', async (status) => {
    using server = new AnsweringServer(answer(status))
    expect((await errorOf(server.client().sms.send(MESSAGE))).status).toBe(status)
    expect(server.requests).toHaveLength(1)
  })
})

describe('a message', () => {
  test('is sent once although the first answer was lost', async () => {
    await using world = await createWorld()
    let lost = 0
    const losing = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init)
      if (init.method !== 'POST' || lost++ > 0) return response
      throw new TypeError('the connection was cut')
    }
    const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key, fetch: losing })
    const { messageId } = await sgw.sms.send(MESSAGE)
    const { messages } = await sgw.sms.list().page(1)
    expect(messages.map((message) => message.messageId)).toEqual([messageId])
  })

  test('has a key of its own each time, or the given one', async () => {
    using server = new AnsweringServer(answer(202))
    const sgw = server.client()
    await sgw.sms.send(MESSAGE)
    await sgw.sms.send(MESSAGE)
    await sgw.sms.send(MESSAGE, { idempotencyKey: 'order-7' })
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys).size).toBe(3)
    expect(keys[2]).toBe('order-7')
    expect(keys[0]).toMatch(/^[\x21-\x7e]{20,255}$/)
  })

  test('that fails is what sendAndWait resolves with', async () => {
    await using world = await createWorld()
    const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
    const failed = await sgw.sms.sendAndWait({ ...MESSAGE, from: '+15555550999' })
    expect(failed).toMatchObject({ status: 'failed', from: '+15555550999' })
    expect(failed.error).toContain('is not registered')
  })

  test('that stays queued makes sendAndWait throw with status 0', async () => {
    await using world = await createWorld({ work: false })
    const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
    const error = await errorOf(sgw.sms.sendAndWait(MESSAGE, { timeoutMs: 100 }))
    expect(error.status).toBe(0)
    expect(error.message).toMatch(/^msg_\w{12} was neither sent nor failed within 100 ms$/)
  })

  test('makes sendAndWait throw with status 0 in time, also if the gateway does not answer or asks to wait longer', async () => {
    const hangs = () => new Promise<never>(() => undefined)
    const accepted = answer(202, { messageId: 'msg_1' })
    using sending = new AnsweringServer(hangs)
    using reading = new AnsweringServer(accepted, hangs)
    using waiting = new AnsweringServer(accepted, answer(429, {}, { 'Retry-After': '60' }))
    const errors = [sending, reading, waiting].map((server) =>
      errorOf(server.client().sms.sendAndWait(MESSAGE, { timeoutMs: 100 })),
    )
    expect((await Promise.all(errors)).map(({ status }) => status)).toEqual([0, 0, 0])
  })

  test('is waited for although the gateway does not answer for a while', async () => {
    using server = new AnsweringServer(
      answer(202, { messageId: 'msg_1' }),
      answer(502),
      answer(429, {}, { 'Retry-After': '100' }),
      answer(200, { status: 'sent' }),
    )
    expect(await server.client({ maxRetries: 0 }).sms.sendAndWait(MESSAGE)).toMatchObject({ status: 'sent' })
  })
})

/** A client whose requests get no answer. */
function unreachable(calls: string[], options: { maxRetries?: number } = {}): Sgw {
  const fetch = (_url: string, { method = '' }: RequestInit) => {
    calls.push(method)
    return Promise.reject(new TypeError('refused'))
  }
  return new Sgw({ baseUrl: 'http://sms.test', apiKey: 'sgw_key', fetch, ...options })
}
