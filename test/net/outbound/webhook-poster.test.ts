import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { systemClock } from '../../../src/core/clock.ts'
import { AddressGuard } from '../../../src/net/outbound/address-guard.ts'
import { postOnce } from '../../../src/net/outbound/webhook-exchange.ts'
import { type PostResult, WebhookPoster } from '../../../src/net/outbound/webhook-poster.ts'
import * as to from './destinations.ts'
import { manualClock } from '../../support/manual-clock.ts'

const TIMEOUT_MS = 1500
/** Additional time for a busy machine. */
const PATIENCE_MS = 5000
const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === '::1'))

interface Names {
  [hostname: string]: string[]
}

function posterWith(names: Names = {}, options: { ca?: string; production?: boolean } = {}): WebhookPoster {
  const resolver = (hostname: string) =>
    Promise.resolve((names[hostname] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  const guard = new AddressGuard({ production: options.production ?? false, allowCidrs: [], resolver })
  return new WebhookPoster({
    guard,
    clock: systemClock,
    timeoutMs: TIMEOUT_MS,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  })
}

const post = (poster: WebhookPoster, url: string): Promise<PostResult> =>
  poster.post({ url, tenantId: 'ten_1', body: '{"text":"Grüße"}', headers: { 'X-Gateway-Timestamp': '1' } })

/** Posts to a destination with this behaviour. */
async function outcomeOf(behaviour: to.Behaviour): Promise<PostResult> {
  await using destination = await to.startDestination(behaviour)
  return await post(posterWith(), `http://127.0.0.1:${destination.port}/hook`)
}

const matching = (text: string | RegExp): unknown => (typeof text === 'string' ? text : expect.stringMatching(text))
const success = (snippet: string | RegExp, statusCode = 200): object => ({
  outcome: 'success',
  statusCode,
  errorClass: null,
  errorMessage: null,
  snippet: matching(snippet),
})
const httpError = (statusCode: number, snippet: string): object => ({
  outcome: 'http_error',
  statusCode,
  errorClass: null,
  snippet,
})
const networkError = (errorClass: string | RegExp): object => ({
  outcome: 'network_error',
  statusCode: null,
  errorClass: matching(errorClass),
  errorMessage: expect.any(String),
  snippet: null,
})
const timeout = {
  outcome: 'timeout',
  statusCode: null,
  errorClass: 'TimeoutError',
  errorMessage: 'The destination did not answer in time',
  snippet: null,
  retryAfterMs: null,
}

const long = 'x'.repeat(1000)
const cases: [name: string, behaviour: to.Behaviour, result: object][] = [
  ['200 with a body', to.says(to.response('200 OK', 'thanks')), success('thanks')],
  ['200 without a body', to.says(to.response('200 OK')), success('')],
  ['204', to.says('HTTP/1.1 204 No Content\r\n\r\n'), success('', 204)],
  [
    '202 in chunks',
    to.says('HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
    success('abcde', 202),
  ],
  ['HTTP/1.0 until the end of the connection', to.says('HTTP/1.0 200 OK\r\n\r\nok'), success('ok')],
  [
    '103 before the answer',
    to.says('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', to.response('200 OK', 'ok')),
    success('ok'),
  ],
  ['a long body', to.says(to.response('200 OK', long)), success('x'.repeat(256))],
  ['301', to.says(to.response('301 Moved', 'm', 'Location: /x\r\n')), httpError(301, 'm')],
  ['404', to.says(to.response('404 Not Found', '{"error":"no"}')), httpError(404, '{"error":"no"}')],
  ['500 with a long body', to.says(to.response('500 Oops', long)), httpError(500, 'x'.repeat(256))],
  ['an unusual status', to.says(to.response('999 Odd')), httpError(999, '')],
  [
    '101',
    to.saysAndHangs('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nxxxx'),
    httpError(101, ''),
  ],
  [
    'NUL and broken UTF-8 in the body',
    to.says('HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\n', Uint8Array.of(0x61, 0, 0xff, 0x62)),
    httpError(500, 'a\uFFFD\uFFFDb'),
  ],
  ['never answers', to.hangs, timeout],
  ['drips its headers', to.drips('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'), success('')],
  ['drips an interim response', to.drips('HTTP/1.1 103 Early Hints\r\n', 'X-A: b\r\n'), timeout],
  [
    'floods 100 Continue',
    to.floods('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)),
    networkError('TooManyInterimResponses'),
  ],
  ['10 MB of header', to.floods('HTTP/1.1 200 OK\r\nX: ', long.repeat(64)), success('')],
  ['endless headers', to.floods('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(1000)), success('')],
  ['garbage', to.says('\0\x01\x02garbage\r\n\r\n'), networkError(/^HPE_/)],
  ['HTTP/0.9', to.says('<html>hello</html>'), networkError(/^HPE_/)],
  ['resets', to.resets, networkError('ECONNRESET')],
  ['closes without an answer', to.closes, networkError('ECONNRESET')],
  ['closes within the headers', to.says('HTTP/1.1 200 OK\r\nX-A:'), success('')],
  ['a success whose body drips', to.drips('HTTP/1.1 200 OK\r\n\r\n', 'z'), success(/^z+$/)],
  ['a success whose body hangs', to.saysAndHangs('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'), success('half')],
  ['a success whose body is incomplete', to.says('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'), success('half')],
  ['a success whose body breaks', to.says('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n'), success('')],
  [
    'a success with endless trailers',
    to.floods('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n', 'X-A: b\r\n'.repeat(1000)),
    success(/^a?$/),
  ],
  ['a failure whose headers hang', to.saysAndHangs('HTTP/1.1 503 No\r\n'), httpError(503, '')],
  [
    'a failure whose body hangs',
    to.saysAndHangs('HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nhalf'),
    httpError(503, 'half'),
  ],
  ['an endless body', to.floods('HTTP/1.1 200 OK\r\n\r\n', long), success('x'.repeat(256))],
]

describe('every kind of destination leads to its outcome in time', () => {
  for (const [name, behaviour, result] of cases) {
    test.concurrent(name, async () => {
      const answer = await outcomeOf(behaviour)
      expect(Number.isInteger(answer.durationMs)).toBe(true)
      expect(answer.durationMs).toBeLessThan(TIMEOUT_MS + PATIENCE_MS)
      expect(answer.errorMessage ?? '').not.toContain('127.0.0.1')
      expect(answer).toMatchObject(result)
    })
  }
})

describe('the request', () => {
  test('is one POST with the fixed headers, those of the request, and the body byte for byte', async () => {
    await using destination = await to.startDestination(to.says(to.response('200 OK')))
    const poster = posterWith({ 'hooks.test': ['127.0.0.1'] })
    const headers = { 'X-Gateway-Signature': 'sha256=00', 'Content-Type': 'text/plain', Host: 'inside' }
    const url = `http://hooks.test:${destination.port}/a%20b?c=d#e`
    await poster.post({ url, tenantId: 'ten_1', body: '{"text":"Grüße"}', headers })
    const [head, body] = (destination.received[0] ?? '').split('\r\n\r\n')
    const [line, ...rest] = (head ?? '').split('\r\n')
    expect(destination.received).toHaveLength(1)
    expect(line).toBe('POST /a%20b?c=d HTTP/1.1')
    expect(rest.map((header) => header.toLowerCase()).toSorted()).toEqual([
      'accept: */*',
      'connection: close',
      'content-length: 18',
      'content-type: application/json',
      `host: hooks.test:${destination.port}`,
      'user-agent: sgw/1.0',
      'x-gateway-signature: sha256=00',
    ])
    expect(body).toBe('{"text":"Grüße"}')
  })

  test('does not follow a redirect to an internal address', async () => {
    await using inside = await to.startDestination(to.says(to.response('200 OK', 'secret')))
    for (const status of ['301 A', '302 B', '303 C', '307 D', '308 E']) {
      const answer = await outcomeOf(to.says(to.response(status, '', `Location: http://127.0.0.1:${inside.port}/\r\n`)))
      expect(answer).toMatchObject(httpError(Number(status.slice(0, 3)), ''))
      expect(answer.errorMessage).toContain('redirects are not followed')
    }
    expect(inside.connections()).toBe(0)
  })

  test('fails for a refused connection and for an unknown name', async () => {
    const gone = await to.startDestination(to.hangs)
    await gone[Symbol.asyncDispose]()
    expect(await post(posterWith(), `http://127.0.0.1:${gone.port}/`)).toMatchObject(networkError('ECONNREFUSED'))
    const real = new WebhookPoster({
      guard: new AddressGuard({ production: false, allowCidrs: [] }),
      clock: systemClock,
    })
    expect(await post(real, 'https://nowhere.invalid/hook')).toMatchObject(networkError('ENOTFOUND'))
  })

  test('ends half a second after a success whose body hangs, and its duration ends at the status line', async () => {
    await using destination = await to.startDestination(
      to.saysAndHangs('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    )
    const patient = new WebhookPoster({
      guard: new AddressGuard({ production: false, allowCidrs: [] }),
      clock: systemClock,
    })
    const startedAt = performance.now()
    const answer = await post(patient, `http://127.0.0.1:${destination.port}/`)
    const tookMs = performance.now() - startedAt
    expect(tookMs).toBeWithin(490, 500 + PATIENCE_MS)
    expect(answer.durationMs).toBeLessThan(tookMs - 400)
    expect(answer).toMatchObject(success('half'))
  })

  const endings: [name: string, says: string, snippet: string][] = [
    ['ends', 'HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nhalf', 'half'],
    ['is cut off', 'HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nhalf', 'half'],
  ]
  test.each(endings)('ends at once when the body %s', async (_name, says, snippet) => {
    await using destination = await to.startDestination(to.says(says))
    const guard = new AddressGuard({ production: false, allowCidrs: [] })
    // The clock stands still, so no time limit ends this POST.
    const poster = new WebhookPoster({ guard, clock: manualClock() })
    expect(await post(poster, `http://127.0.0.1:${destination.port}/`)).toMatchObject(httpError(503, snippet))
  })

  test('closes the connection to a destination that does not answer in time', async () => {
    const over = Promise.withResolvers<void>()
    await using destination = await to.startDestination((socket) => void socket.on('close', () => over.resolve()))
    expect(await post(posterWith(), `http://127.0.0.1:${destination.port}/`)).toMatchObject(timeout)
    await over.promise
  })

  test('sends nothing if it is aborted before it begins', async () => {
    await using destination = await to.startDestination(to.says(to.response('200 OK')))
    const url = new URL(`http://127.0.0.1:${destination.port}/`)
    const dialable = { address: '127.0.0.1', family: 4 } as const
    const answer = await postOnce({ url, dialable, body: '{}', headers: {} }, AbortSignal.abort())
    expect(answer).toMatchObject({ ok: false, errorClass: 'TimeoutError' })
    expect(destination.received).toEqual([])
  })

  test('ends with its time limit if the name hangs', async () => {
    const clock = manualClock()
    const guard = new AddressGuard({ production: false, allowCidrs: [], resolver: () => new Promise(() => {}), clock })
    const answer = post(new WebhookPoster({ guard, clock, timeoutMs: 1500 }), 'http://slow.test/')
    clock.advance(1500)
    expect(await answer).toEqual({ ...timeout, durationMs: 1500 } as PostResult)
  })

  test.skipIf(!hasIPv6)('works with a literal IPv6 address', async () => {
    await using destination = await to.startDestination(to.says(to.response('200 OK', 'six')), '::1')
    expect(await post(posterWith(), `http://[::1]:${destination.port}/`)).toMatchObject(success('six'))
    expect(destination.received[0]?.toLowerCase()).toContain(`host: [::1]:${destination.port}\r\n`)
  })

  test.skipIf(!hasIPv6)('uses the second address only if the first accepts no connection', async () => {
    const poster = posterWith({ 'both.test': ['127.0.0.1', '::1'] })
    await using healthy = await to.startDestination(to.says(to.response('200 OK', 'ok')), '::1')
    expect(await post(poster, `http://both.test:${healthy.port}/`)).toMatchObject(success('ok'))
    await using _broken = await to.startDestination(to.resets, '127.0.0.1', healthy.port)
    expect(await post(poster, `http://both.test:${healthy.port}/`)).toMatchObject(networkError('ECONNRESET'))
    expect(healthy.connections()).toBe(1)
  })
})

describe('the check of the dialled address', () => {
  test('addresses that cannot be registered are not dialled', async () => {
    await using inside = await to.startDestination(to.says(to.response('200 OK', 'secret')))
    const poster = posterWith({ 'inside.test': ['127.0.0.1'] }, { production: true })
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'inside.test', 'localhost', '2130706433']) {
      for (const scheme of ['http', 'https']) {
        expect(await post(poster, `${scheme}://${host}:${inside.port}/`)).toMatchObject(networkError('BlockedAddress'))
      }
    }
    for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'nonsense', 's3://a/b']) {
      expect(await post(posterWith(), url)).toMatchObject(networkError('BlockedAddress'))
    }
    expect(inside.connections()).toBe(0)
  })

  test('a name that changes its address after the lookup is dialled at the checked one', async () => {
    await using checked = await to.startDestination(to.says(to.response('200 OK', 'checked')))
    let asked = 0
    // DNS rebinding: the first answer is a public address, and all later ones are internal.
    const resolver = () =>
      Promise.resolve([{ address: (asked += 1) === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }])
    const guard = new AddressGuard({ production: false, allowCidrs: [], resolver })
    const poster = new WebhookPoster({ guard, clock: systemClock, timeoutMs: TIMEOUT_MS })
    expect(await post(poster, `http://rebind.test:${checked.port}/`)).toMatchObject(success('checked'))
    expect(asked).toBe(1)
    expect(await post(poster, `http://rebind.test:${checked.port}/`)).toMatchObject(networkError('BlockedAddress'))
  })
})

describe('TLS', () => {
  const names = { 'hooks.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] }
  const trusting = posterWith(names, { ca: to.CERTIFICATE })

  test("verifies the certificate for the URL's name although an address is dialled", async () => {
    await using destination = await to.startTlsDestination(to.says(to.response('200 OK', 'ok')))
    expect(await post(trusting, `https://hooks.test:${destination.port}/`)).toMatchObject(success('ok'))
    expect(await post(trusting, `https://hooks.test.:${destination.port}/`)).toMatchObject(success('ok'))
    expect(await post(trusting, `https://127.0.0.1:${destination.port}/`)).toMatchObject(success('ok'))
    expect(await post(trusting, `https://other.test:${destination.port}/`)).toMatchObject(
      networkError('ERR_TLS_CERT_ALTNAME_INVALID'),
    )
    expect(await post(trusting, `https://[::ffff:127.0.0.1]:${destination.port}/`)).toMatchObject(
      networkError('ERR_TLS_CERT_ALTNAME_INVALID'),
    )
    expect(destination.received).toHaveLength(3)
  })

  test('refuses a self-signed certificate', async () => {
    await using destination = await to.startTlsDestination(to.says(to.response('200 OK')))
    expect(await post(posterWith(names), `https://hooks.test:${destination.port}/`)).toMatchObject(
      networkError(/SELF_SIGNED/),
    )
    expect(destination.received).toEqual([])
  })

  test('fails for a destination without TLS, and for a handshake that never ends', async () => {
    await using plain = await to.startDestination(to.says('nonsense'))
    expect(await post(trusting, `https://hooks.test:${plain.port}/`)).toMatchObject(
      networkError(/SSL|EPROTO|ECONNRESET/),
    )
    await using silent = await to.startDestination(to.hangs)
    expect(await post(trusting, `https://hooks.test:${silent.port}/`)).toMatchObject(timeout)
  })
})
