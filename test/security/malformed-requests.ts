import { ROUTES } from '../../src/server/app.ts'

/** One request as bytes, with its properties. */
export interface Malformed {
  bytes: Buffer
  /** HEAD answers have no body. */
  method: string
  /** Whether the end of the request is ambiguous. Then the client closes its writing side after it. */
  broken: boolean
}

export interface Own {
  key: string
  tenantId: string
  appId: string
}

/** A generator of 32-bit numbers (mulberry32). A run can be repeated with its seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}

/** Creates the next request. Four of five have valid framing and hostile contents. The fifth has invalid framing. */
export function malformedRequest(random: Random, own: Own): Malformed {
  return random.chance(0.8) ? withHostileContents(random, own) : withInvalidFraming(random, own)
}

const PATHS = ['/openapi.json', '/docs', '/docs/swagger-ui.css', '/nothing', '/', '/v1', '/v1/', '/v1/ID']
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']
const NAMES = [
  'to',
  'from',
  'body',
  'userId',
  'name',
  'tenantId',
  'webhookUrl',
  'role',
  'isActive',
  'callbackUrl',
  'number',
  'contact',
  'optedOut',
  'policy',
  'token',
  'appId',
  'triggerId',
  'messageId',
  'direction',
  'status',
  'outcome',
  'kind',
  'startDate',
  'endDate',
  'page',
  'limit',
  'code',
  'state',
  'error',
  'error_description',
  'format',
  '__proto__',
  'constructor',
  'toString',
  '',
  'event',
  'subscriptionId',
  'ownerId',
  'uuid',
]
/** JSON values as text: numbers beyond a double, escapes of lone surrogates, and unexpected types. */
const VALUES = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '18446744073709551616',
  '3.14',
  '""',
  '" "',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '[]',
  '{}',
  '[[]]',
  '{"a":{}}',
  '[null]',
  '"+15555550100"',
  '"+15555550199"',
  '"+1555555０100"',
  '"\\u202e"',
  '"\\u2028"',
  '"<script>"',
  `"' OR 1=1 --"`,
  '"%00"',
  '"../"',
  '"http://127.0.0.1:9/"',
  '"https://[::1"',
  '"inbound"',
  '"app"',
  '"2026-02-30"',
  '"9999-12-31T23:59:59Z"',
  '"__proto__"',
  `"${'x'.repeat(300)}"`,
  `"${'é'.repeat(1601)}"`,
  `"${'9'.repeat(400)}"`,
]
const BROKEN_JSON = [
  '',
  '{',
  '}',
  '[',
  '"',
  '{"a"',
  '{"a":',
  '{"a":1,}',
  '[1,]',
  "{'a':1}",
  '{a:1}',
  'nul',
  'NaN',
  'Infinity',
  '01',
  '1.',
  '.5',
  '+1',
  '\u0001',
  '{"a":1}{"b":2}',
  '\ufeff{}',
  '//x\n{}',
  '{"a":"\n"}',
  '"\\x"',
  '"\\ud8"',
  'undefined',
  '%7B%7D',
]
const CONTENT_TYPES = [
  'application/json',
  'Application/JSON; Charset=UTF-8',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/html',
  'application/xml',
  'application/octet-stream',
  'application/vnd.x+json',
  '',
  ';',
  '/',
  'json',
  'application/json, text/plain',
  '\u00ff',
  'application/json\u0000'.slice(0, 16),
  'x'.repeat(500),
]

function withHostileContents(random: Random, own: Own): Malformed {
  const route = random.pick(ROUTES)
  const method = random.chance(0.75) ? route.method : random.pick(METHODS)
  const path = hostilePath(
    random,
    method,
    random.chance(0.9) ? route.path.replace(/:\w+/, 'ID') : random.pick(PATHS),
    own,
  )
  const body = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : hostileBody(random, own)
  const chunked = body.length > 0 && random.chance(0.2)
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${random.pick(['sms.example.com', 'a', 'localhost:1', '[::1]', 'xn--a', '127.0.0.1'])}`,
    ...hostileHeaders(random, own),
    ...(chunked
      ? ['Transfer-Encoding: chunked']
      : body.length > 0 || random.chance(0.5)
        ? [`Content-Length: ${body.length}`]
        : []),
  ]
  return {
    bytes: Buffer.concat([
      Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
      chunked ? inChunks(random, body) : body,
    ]),
    method,
    broken: false,
  }
}

/** Uses an id of the caller only if the request cannot deactivate the app, because that would end the run. */
function hostilePath(random: Random, method: string, template: string, own: Own): string {
  const ids = [
    'msg_0123456789ab',
    'app_0123456789abcdef',
    'trg_0123456789abcdef',
    'msg_',
    '%00',
    '%ZZ',
    '%',
    '%c0%af',
    '%ff',
    "'",
    '..',
    '%2e%2e',
    '*',
    'x'.repeat(random.below(4000)),
    '\u00ff\u00fe',
    '%F0%9F%98%80',
    '[]',
    'null',
    ';',
    '~',
  ]
  const safe = method === 'GET' || template === '/v1/apps/ID/rotate-webhook-secret'
  const path = template.replace('ID', safe && random.chance(0.2) ? own.appId : random.pick(ids))
  const query = Array.from(
    { length: random.below(5) },
    () => `${random.pick(NAMES)}${random.pick(['=', '', '[]=', '[a]=', '=='])}${random.pick(QUERY_VALUES)}`,
  ).join(random.pick(['&', '&&', ';']))
  return `${path}${random.chance(0.85) ? '' : random.pick(['/', '//', '/.', '%20', ';a=b'])}${query === '' ? '' : `?${query}`}`
}

const QUERY_VALUES = [
  '',
  '1',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'NaN',
  '%00',
  '%ZZ',
  '%',
  '+15555550100',
  '%2B15555550100',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '2026-13-01',
  '-271821-04-20',
  'x'.repeat(2000),
  '%F0%9F',
  'a%00b',
  '\u00ff',
  'inbound',
  'sent',
  'success',
  'app_0123456789abcdef',
  'trg_0123456789abcdef',
  'msg_0123456789ab',
  'json',
  '<script>',
  "'",
  '"',
  '{}',
  '[]',
  '%0d%0aX:y',
  'null',
  'undefined',
  '__proto__',
]

function hostileHeaders(random: Random, own: Own): string[] {
  const credential = random.chance(0.85)
    ? `Bearer ${own.key}`
    : random.pick(['Bearer sgw_x', 'Bearer ', 'Basic eA==', 'sgw_', `Bearer sgw_${'x'.repeat(5000)}`, '\u00ff'])
  const all: string[] = []
  if (random.chance(0.95)) all.push(`Authorization: ${credential}`)
  if (random.chance(0.7)) all.push(`Content-Type: ${random.pick(CONTENT_TYPES)}`)
  if (random.chance(0.1)) all.push(`Idempotency-Key: ${random.pick(['', 'k', 'x'.repeat(256), '\u00e9', 'a b'])}`)
  if (random.chance(0.1)) all.push(`X-Request-Id: ${random.pick(['', 'x'.repeat(200), '\u00ff', 'a b', 'ok'])}`)
  if (random.chance(0.1))
    all.push(`Cookie: ${random.pick(['a=%ZZ', '=', ';;;', '__proto__=1', 'a="', 'x'.repeat(3000)])}`)
  if (random.chance(0.1)) all.push(`Accept: ${random.pick(['text/html', '*/*;q=NaN', ',,,', 'text/html;q=1e400', ''])}`)
  if (random.chance(0.1))
    all.push(`X-Forwarded-For: ${random.pick(['1.2.3.4', ',,,', '::', 'unknown', '1.1.1.1,'.repeat(500), '\u00ff'])}`)
  if (random.chance(0.1)) all.push(`Verification-Token: ${random.pick(['', 'x', 'x'.repeat(600), '\u00ff'])}`)
  if (random.chance(0.05)) all.push(`Validation-Token: ${random.pick(['x', 'x'.repeat(300), '\u00ff', 'a b'])}`)
  if (random.chance(0.05)) all.push(`Range: bytes=${random.pick(['0-', '-1', '5-2', 'x'])}`, 'If-None-Match: *')
  if (random.chance(0.05))
    all.push(
      `Origin: ${random.pick(['null', 'https://evil.example', '\u00ff'])}`,
      'Access-Control-Request-Method: POST',
    )
  return all
}

function hostileBody(random: Random, own: Own): Buffer {
  const kind = random.below(12)
  if (kind < 4) return Buffer.from(jsonObject(random, own))
  if (kind === 4) return Buffer.from(random.pick(BROKEN_JSON))
  if (kind === 5) return Buffer.from(random.pick(VALUES))
  if (kind === 6) return random.bytes(random.below(300))
  if (kind === 7) return nested(random)
  if (kind === 8)
    return Buffer.from(
      Array.from({ length: random.below(5) }, () => `${random.pick(NAMES)}=${random.pick(QUERY_VALUES)}`).join('&'),
    )
  if (kind === 9) return Buffer.from('x'.repeat(random.pick([102_399, 102_400, 102_401, 150_000])))
  if (kind === 10) return Buffer.concat([Buffer.from('{"body":"'), random.bytes(40), Buffer.from('"}')])
  return Buffer.from(jsonObject(random, own)).subarray(0, random.below(80))
}

/** An object with random names and values. Some names occur twice. */
function jsonObject(random: Random, own: Own): string {
  const values = [...VALUES, JSON.stringify(own.tenantId), JSON.stringify(own.appId)]
  const valid: Record<string, string> = {
    to: '"+15555550199"',
    from: '"+15555550100"',
    body: '"Hello"',
    name: '"x"',
    tenantId: JSON.stringify(own.tenantId),
    callbackUrl: '"http://127.0.0.1:9/"',
  }
  const names = random.chance(0.5)
    ? Object.keys(valid)
    : Array.from({ length: 1 + random.below(8) }, () => random.pick(NAMES))
  return `{${names.map((name) => `${JSON.stringify(name)}:${random.chance(0.6) ? (valid[name] ?? random.pick(values)) : random.pick(values)}`).join(',')}}`
}

function nested(random: Random): Buffer {
  const depth = random.pick([31, 32, 33, 100, 5000, 50_000])
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ])
  const levels = Math.min(depth, Math.floor(100_000 / (open.length + close.length)))
  return Buffer.from(
    open.repeat(levels) + random.pick(['1', '', '{}']) + (random.chance(0.5) ? close.repeat(levels) : ''),
  )
}

function inChunks(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(Math.max(1, body.length - at))
    const extension = random.chance(0.1) ? ';a=b' : ''
    parts.push(Buffer.from(`${size.toString(16)}${extension}\r\n`), body.subarray(at, at + size), Buffer.from('\r\n'))
    at += size
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Wrong lengths, incomplete lines, and bytes that are not HTTP. */
function withInvalidFraming(random: Random, own: Own): Malformed {
  const auth = `Authorization: Bearer ${own.key}\r\n`
  const post = `POST ${random.pick(['/v1/sms/send', '/v1/apps/register', '/v1/rc/connect', '/v1/webhooks/provider', '/nothing'])} HTTP/1.1\r\nHost: a\r\n${auth}`
  const get = `GET ${random.pick(['/v1/apps', '/health', '/v1/rc/connect'])}`
  const framing = random.pick([
    'Content-Length: +5',
    'Content-Length: -5',
    'Content-Length: 0x5',
    'Content-Length: 5, 5',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: 99999999999999999999',
    'Content-Length:',
    'Content-Length: 5 5',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Expect: 100-continue\r\nContent-Length: 5',
    'Content-Length: 5\r\n Folded: yes',
    'Content-Length: 3',
    'Content-Length: 500',
  ])
  const text = random.pick([
    `${post}${framing}\r\n\r\n${random.pick(['hello', '5\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n', 'zz\r\nhello', '5\nhello\n0\n\n', '-1\r\n\r\n', 'ffffffffffffffff\r\n', ''])}`,
    `${get} HTTP/1.1\nHost: a\n\n`,
    `${get} HTTP/1.1\r\n\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\nHost: b\r\n${auth}\r\n`,
    `${get} HTTP/9.9\r\nHost: a\r\n\r\n`,
    `${get} HTTP/1.0\r\n\r\n`,
    `${get}\r\n\r\n`,
    `${get} \r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\nX\u0000Y: z\r\n\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\nNoColon\r\n\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(250)}\r\n`,
    `${get} HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `G\u0000T / HTTP/1.1\r\nHost: a\r\n\r\n`,
    `get / HTTP/1.1\r\nHost: a\r\n\r\n`,
    `${'A'.repeat(300)} / HTTP/1.1\r\nHost: a\r\n\r\n`,
    `CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET http:///v1/apps HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET //@ HTTP/1.1\r\nHost: @\r\n\r\n`,
    `GET /\u0001 HTTP/1.1\r\nHost: a\r\n\r\n`,
    `\r\n\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: ${random.pick(['0', '13', 'x'])}\r\nSec-WebSocket-Key: ${random.pick(['', 'x', '\u00ff'])}\r\n\r\n`,
    `GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n`,
    random.bytes(1 + random.below(500)).toString('latin1'),
    `\x16\x03\x01\x02\x00\x01\x00${random.bytes(100).toString('latin1')}`,
    `${post}Content-Length: 2\r\n\r\n{}GARBAGE${random.bytes(20).toString('latin1')}\r\n\r\n`,
  ])
  const bytes = Buffer.from(text, 'latin1')
  return {
    bytes: random.chance(0.15) ? bytes.subarray(0, random.below(bytes.length)) : bytes,
    method: 'RAW',
    broken: true,
  }
}
