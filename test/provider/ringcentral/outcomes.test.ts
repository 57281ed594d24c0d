import { describe, expect, test } from 'bun:test'
import type { FailureReason } from '../../../src/provider/provider.ts'
import { ACCESS_TOKEN, clientOf, errorBody, failureOf, httpServer } from './servers.ts'

const SMS = { from: '+16505550101', to: '+16505550123', text: 'Hello' }
const NOW = Date.parse('2026-11-21T02:30:00.000Z')

const sendTo = (url: string) => clientOf(url, { now: () => NOW }).sendSms(ACCESS_TOKEN, SMS)
const FOREIGN = "The answer (status 400) is not in the provider's form"
const html = '<html><body>Bad gateway</body></html>'

describe('the reason follows from the status', () => {
  const rows: [status: number, body: unknown, reason: FailureReason][] = [
    [300, html, 'intercepted'],
    [302, errorBody('X-1', 'elsewhere'), 'rejected'],
    [307, '', 'intercepted'],
    [400, errorBody('CMN-101', 'Parameter [to] value is invalid.'), 'rejected'],
    [400, html, 'intercepted'],
    [401, errorBody('OAU-128', 'Access token expired'), 'unauthorized'],
    [401, '', 'unauthorized'],
    [403, errorBody('MSG-304', "Phone number doesn't belong to extension"), 'rejected'],
    [404, errorBody('CMN-102', 'Resource for parameter [accountId] is not found'), 'rejected'],
    [408, errorBody('CMN-205', 'Request timeout'), 'ambiguous'],
    [415, '', 'intercepted'],
    [415, errorBody('CMN-120', 'Invalid request body'), 'rejected'],
    [429, errorBody('CMN-301', 'Request rate exceeded'), 'rate_limited'],
    [429, '', 'rate_limited'],
    [499, '', 'intercepted'],
    [500, errorBody('CMN-203', 'Internal Server Error'), 'ambiguous'],
    [501, '', 'ambiguous'],
    [502, html, 'ambiguous'],
    [503, errorBody('CMN-201', 'Service Temporary Unavailable'), 'unavailable'],
    [503, { errors: [{ errorCode: 'MSG-290', message: 'Please try later.' }] }, 'unavailable'],
    [503, { errorCode: 'MaintenanceMode' }, 'unavailable'],
    [
      503,
      { message: 'Service Unavailable', error: 'service_unavailable', error_description: 'Service Unavailable' },
      'ambiguous',
    ],
    [503, html, 'ambiguous'],
    [503, '', 'ambiguous'],
    [503, { message: 'no healthy upstream' }, 'ambiguous'],
    [503, { status: 503, error: 'Service Unavailable', path: '/sms' }, 'ambiguous'],
    [503, ['CMN-201'], 'ambiguous'],
    [504, errorBody('CMN-204', 'Gateway timeout'), 'ambiguous'],
    [520, '', 'ambiguous'],
  ]
  test.each(rows)('%d %j is %s', async (status, body, reason) => {
    using server = httpServer(() => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }))
    const failure = failureOf(await sendTo(server.url))
    expect(failure.reason).toBe(reason)
    expect(failure.status).toBe(status)
    expect(server.requests).toHaveLength(1)
  })
})

describe('an unreadable 2xx is ambiguous', () => {
  const rows: [name: string, body: string][] = [
    ['empty', ''],
    ['a page', html],
    ['cut off', '{"id": 306299'],
    ['without an id', '{"messageStatus":"Queued"}'],
    ['an id that a double cannot represent', '{"id": 16382337985951111620}'],
    ['an id of another type', '{"id": {"value": 1}}'],
    ['an array', '[]'],
    ['null', 'null'],
  ]
  test.each(rows)('%s', async (_name, body) => {
    using server = httpServer(() => new Response(body, { headers: { RCRequestId: 'req-1' } }))
    expect(failureOf(await sendTo(server.url))).toEqual({
      reason: 'ambiguous',
      status: 200,
      code: null,
      message: "The provider's answer could not be read (status 200)",
      oauthError: null,
      retryAfterMs: null,
      requestId: 'req-1',
    })
  })

  test('if it is longer than 256 KiB', async () => {
    using server = httpServer(() => Response.json({ id: 1, subject: 'x'.repeat(256 * 1024) }))
    const failure = failureOf(await sendTo(server.url))
    expect(failure).toMatchObject({ reason: 'ambiguous', status: 200, code: 'ERR_ANSWER_TOO_LARGE' })
  })

  test('if it is a list longer than 8 MiB', async () => {
    using server = httpServer(() => Response.json({ records: [], padding: 'x'.repeat(8 * 1024 * 1024) }))
    const failure = failureOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction: 'Inbound', since: 0 }))
    expect(failure).toMatchObject({ reason: 'ambiguous', status: 200, code: 'ERR_ANSWER_TOO_LARGE' })
  })

  test('if it is compressed without a request for it', async () => {
    using server = httpServer(() => new Response(Bun.gzipSync('{"id":1}'), { headers: { 'content-encoding': 'gzip' } }))
    expect(failureOf(await sendTo(server.url)).reason).toBe('ambiguous')
    expect(server.requests[0]?.headers.get('accept-encoding')).toBe('identity')
  })
})

describe('the contents of a failure', () => {
  const rows: [name: string, body: unknown, code: string | null, message: string][] = [
    [
      'the first entry first',
      {
        errorCode: 'Top',
        message: 'top',
        errors: [
          { errorCode: 'MSG-1', message: 'first' },
          { errorCode: 'MSG-2', message: 'second' },
        ],
      },
      'MSG-1',
      'first',
    ],
    ['the top level without entries', { errorCode: 'InvalidParameter', message: 'top' }, 'InvalidParameter', 'top'],
    [
      'the top level for an entry without code or message',
      { errorCode: 'Top', message: 'top', errors: [{}] },
      'Top',
      'top',
    ],
    ['entries that are not a list', { errorCode: 'Top', message: 'top', errors: 'none' }, 'Top', 'top'],
    ['an entry that is not an object', { errorCode: 'Top', message: 'top', errors: [null] }, 'Top', 'top'],
    [
      'members of another type',
      { errorCode: 5, message: 'top', errors: [{ errorCode: [], message: 1 }] },
      null,
      FOREIGN,
    ],
    ['OAuth members', { error: 'invalid_request', error_description: 'Unsupported' }, null, FOREIGN],
    ['no readable message', { errorCode: 'A', message: {} }, 'A', 'The provider answered with status 400'],
    ['an empty message', { errorCode: 'A', message: ' ' }, 'A', 'The provider answered with status 400'],
    ['a page', html, null, FOREIGN],
    ['an empty code', { errorCode: ' ', message: 'top' }, null, FOREIGN],
    ['line breaks and NUL', { errorCode: 'A', message: 'one\r\n\0two\u2028three' }, 'A', 'one two three'],
  ]
  test.each(rows)('%s', async (_name, body, code, message) => {
    using server = httpServer(
      () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status: 400 }),
    )
    expect(failureOf(await sendTo(server.url))).toMatchObject({ code, message })
  })

  test('the message is cut to 300 characters without splitting a surrogate pair, the code to 64, the request id to 128', async () => {
    const body = errorBody('C'.repeat(500), `${'m'.repeat(299)}😀 more`)
    using server = httpServer(() => Response.json(body, { status: 400, headers: { RCRequestId: 'r'.repeat(900) } }))
    expect(failureOf(await sendTo(server.url))).toMatchObject({
      message: 'm'.repeat(299),
      code: 'C'.repeat(64),
      requestId: 'r'.repeat(128),
    })
  })

  test('a redirect is not followed, and its target is not reported', async () => {
    using elsewhere = httpServer(() => Response.json({ id: 1 }))
    const headers = { location: `${elsewhere.url}/secret-place` }
    using server = httpServer(() => Response.json(errorBody('X', 'secret-place'), { status: 302, headers }))
    const failure = failureOf(await sendTo(server.url))
    expect(failure.message).toBe('The provider answered with a redirect (status 302), which is never followed')
    expect(elsewhere.requests).toHaveLength(0)
  })
})

describe('Retry-After', () => {
  const rows: [header: string | null, expected: number | null][] = [
    ['60', 60_000],
    ['0', 0],
    ['1.5', 1500],
    [' 7 ', 7000],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['99999999999999999999999', 3_600_000],
    ['Sat, 21 Nov 2026 02:30:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 02:29:30 GMT', 0],
    ['Sun, 22 Nov 2026 02:30:00 GMT', 3_600_000],
    [null, null],
    ['', null],
    [' ', null],
    ['0.0', 0],
    ['-5', 0],
    ['soon', 0],
    ['1 minute', 0],
    ['60, 60', 0],
    ['Sat, 99 Nov 2026 02:30:30 GMT', 0],
  ]
  test.each(rows)('%j is %p', async (header, expected) => {
    const headers: Record<string, string> = header === null ? {} : { 'Retry-After': header }
    using server = httpServer(() =>
      Response.json(errorBody('CMN-301', 'Request rate exceeded'), { status: 429, headers }),
    )
    expect(failureOf(await sendTo(server.url)).retryAfterMs).toBe(expected)
  })

  test('is read from a 503, too', async () => {
    const headers = { 'Retry-After': '5' }
    using server = httpServer(() => Response.json(errorBody('CMN-201', 'Unavailable'), { status: 503, headers }))
    expect(failureOf(await sendTo(server.url)).retryAfterMs).toBe(5000)
  })
})

test('an access token that cannot be sent in a header is invalid, and nothing is sent', async () => {
  using server = httpServer(() => Response.json({ id: 1 }))
  const failure = failureOf(await clientOf(server.url).sendSms('broken\ntoken', SMS))
  expect(failure).toMatchObject({ reason: 'unauthorized', status: null })
  expect(server.requests).toHaveLength(0)
})

describe('an invalid server address throws at once', () => {
  test.each(['', 'platform.ringcentral.com', 'file:///etc/passwd', 'data:,x'])('%j', (serverUrl) => {
    expect(() => clientOf(serverUrl)).toThrow()
  })
})
