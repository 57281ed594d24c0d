import { describe, expect, test } from 'bun:test'
import { ask, exchange, parseAnswers } from '../../support/raw-http.ts'
import { type World, createWorld } from '../../support/world.ts'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })
const auth = (world: World): string => `Authorization: Bearer ${world.key}`

const MISSING_KEY = { status: 401, body: '{"error":"Missing or invalid API key"}' }
const NOT_FOUND = { status: 404, body: '{"error":"Not found"}' }

describe('a key is required for every form of the host', () => {
  const heads: [name: string, ...lines: string[]][] = [
    ['HTTP/1.0 without Host', 'GET /v1/apps HTTP/1.0'],
    ['an empty Host', 'GET /v1/apps HTTP/1.1', 'Host: '],
    ['a Host of one letter', 'GET /v1/apps HTTP/1.1', 'Host: a'],
    ['a Host that contains an open path', 'GET /v1/apps HTTP/1.1', 'Host: a/health?'],
    ['a Host that contains a fragment', 'GET /v1/apps HTTP/1.1', 'Host: a/health#'],
    ['a Host with a user', 'GET /v1/apps HTTP/1.1', 'Host: user@host'],
    ['a Host with an open bracket', 'GET /v1/apps HTTP/1.1', 'Host: [::1'],
    ['absolute form', 'GET http://evil.example/v1/apps HTTP/1.1', 'Host: x'],
    ['absolute form with an open path in its query', 'GET https://evil.example/v1/apps?x=/health HTTP/1.1', 'Host: x'],
    ['absolute form without a Host', 'GET http://evil.example/v1/apps HTTP/1.0'],
  ]
  for (const [name, ...lines] of heads) {
    test(name, async () => {
      await using world = await quiet()
      expect(await ask(world.url, lines)).toMatchObject(MISSING_KEY)
      expect((await ask(world.url, [...lines, auth(world)])).status).toBe(200)
    })
  }
})

test('the path of the request line counts, also where the router finds another one in the URL', async () => {
  await using world = await quiet()
  // Elysia skips the first letters of the URL, which without a Host is the path alone.
  const health = { status: 200, body: '{"status":"ok"}' }
  for (const [target, found] of [
    ['/health/?a=xxx/v1/sms/status/msg_0123456789ab', health],
    ['/health?a=xxx/v1/sms/status/msg_0123456789ab', health],
    ['/nothing?a=xxx/v1/sms/status/msg_0123456789ab', NOT_FOUND],
    ['/nothing/health', NOT_FOUND],
    ['/nothing/v1/me', NOT_FOUND],
    ['/xx/ws', NOT_FOUND],
  ] as const)
    for (const lines of [['HTTP/1.0'], ['HTTP/1.0', 'Host: a'], ['HTTP/1.1', 'Host: a'], ['HTTP/1.1', 'Host: ']]) {
      const [version, ...host] = lines
      const head = [`GET ${target} ${version}`, ...host]
      expect([target, lines, await ask(world.url, head)]).toMatchObject([target, lines, found])
      expect([target, lines, await ask(world.url, [...head, auth(world)])]).toMatchObject([target, lines, found])
    }
})

test('a key is required for every spelling of a path', async () => {
  await using world = await quiet()
  const paths = [
    '/v1/apps/',
    '/v1/apps//',
    '//v1/apps',
    '/health/../v1/apps',
    '/v1/rc/connect/../../apps',
    '/%761/apps',
    '/v1%2fapps',
    '/v1/%61pps',
    '/V1/apps',
    '/v1/apps#x',
    '/v1/apps;x',
    '/health\\..\\v1\\apps',
    '/./v1/apps',
    '/v1/./apps',
    '/v1//apps',
    '//evil/v1/apps',
    '/v1/rc/connect%00/../apps',
    '/health?/../v1/apps',
    '/v1/sms/messages?x=/health',
  ]
  for (const path of paths) {
    const answer = await ask(world.url, [`GET ${path} HTTP/1.1`, 'Host: localhost'])
    expect(answer.body).not.toContain(world.app.appId)
    expect([200, 401, 404]).toContain(answer.status)
    if (answer.status === 200) expect(answer.body).toBe('{"status":"ok"}')
  }
})

test('the console is served for every form of the host; without the slash the address leads there', async () => {
  await using world = await quiet()
  const hosts = [[], ['Host: '], ['Host: a b'], ['Host: [::1'], ['Host: a/health#'], ['Host: user@host:99999']]
  for (const host of hosts)
    for (const path of ['/console/', '/console/?x', '/console/?x=/console'])
      expect(await ask(world.url, [`GET ${path} HTTP/1.0`, ...host])).toMatchObject({
        status: 200,
        body: expect.stringContaining('src="main.js"'),
      })
})

test('pages name files by relative addresses, so each has one address, to which its other form leads', async () => {
  await using world = await quiet()
  const forms = { '/console': 'console/', '/console?x': 'console/', '/docs/': '../docs', '/docs/?x': '../docs' }
  for (const [path, location] of Object.entries(forms))
    expect(await ask(world.url, [`GET ${path} HTTP/1.1`, 'Host: localhost'])).toMatchObject({
      status: 302,
      headers: { location },
    })
  for (const path of ['/docs', '/docs?x=/docs/', '/console/'])
    expect(await ask(world.url, [`GET ${path} HTTP/1.1`, 'Host: localhost'])).toMatchObject({
      status: 200,
      body: expect.not.stringMatching(/(src|href)="\//),
    })
})

test('a query is read in every form of the request line', async () => {
  await using world = await quiet()
  for (const target of ['/v1/sms/messages?limit=3', 'http://evil.example/v1/sms/messages?limit=3']) {
    expect((await ask(world.url, [`GET ${target} HTTP/1.0`, auth(world)])).body).toBe(
      '{"messages":[],"total":0,"page":1,"limit":3}',
    )
  }
})

test('unknown paths and methods are answered with 404 Not found as JSON', async () => {
  await using world = await quiet()
  for (const path of ['/', '/nothing', '/v1', '/healthz', '/favicon.ico', '/..%2f..%2fetc/passwd']) {
    const answer = await ask(world.url, [`GET ${path} HTTP/1.1`, 'Host: localhost'])
    expect(answer).toMatchObject(NOT_FOUND)
    expect(answer.headers['content-type']).toStartWith('application/json')
  }
  for (const method of ['PATCH', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PROPFIND']) {
    expect(await ask(world.url, [`${method} /v1/apps HTTP/1.1`, 'Host: localhost', auth(world)])).toMatchObject(
      NOT_FOUND,
    )
  }
  expect(await ask(world.url, ['POST /health HTTP/1.1', 'Host: localhost', 'Content-Length: 0'])).toMatchObject(
    NOT_FOUND,
  )
})

test('HEAD is answered like GET without a body', async () => {
  await using world = await quiet()
  const head = async (path: string, ...lines: string[]): Promise<{ status: number; rest: string }> => {
    const text = await exchange(
      world.url,
      [`HEAD ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n'),
      () => false,
    )
    return { status: Number(text.split(' ')[1]), rest: text.slice(text.indexOf('\r\n\r\n') + 4) }
  }
  expect(await head('/health')).toEqual({ status: 200, rest: '' })
  expect(await head('/v1/apps', auth(world))).toEqual({ status: 200, rest: '' })
  expect(await head('/v1/apps')).toEqual({ status: 401, rest: '' })
  expect(await head('/v1/rc/connect')).toEqual({ status: 400, rest: '' })
  expect(await head('/nothing')).toEqual({ status: 404, rest: '' })
})

test('after a body on GET, or a body that no endpoint reads, the connection still works', async () => {
  await using world = await quiet()
  const next = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  const requests = [
    `GET /v1/rc/status HTTP/1.1\r\nHost: localhost\r\n${auth(world)}\r\nContent-Length: 2\r\n\r\n{}`,
    `GET /v1/rc/status HTTP/1.1\r\nHost: localhost\r\n${auth(world)}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `POST /v1/sms/send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /v1/sms/send HTTP/1.1\r\nHost: localhost\r\n${auth(world)}\r\nContent-Length: 1\r\n\r\n{`,
    `POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  ]
  for (const request of requests) {
    const [first, second, ...others] = parseAnswers(await exchange(world.url, request + next, () => false))
    expect(first?.status).toBeLessThan(500)
    expect(second).toMatchObject({ status: 200, body: '{"status":"ok"}' })
    expect(others).toEqual([])
  }
})

test('hostile bytes in paths, queries and headers never lead to a 5xx', async () => {
  await using world = await quiet()
  const requests = [
    'GET /v1/sms/status/%zz',
    'GET /v1/sms/status/%ff%fe',
    'GET /v1/sms/status/\xc3\xa9',
    'GET /v1/sms/messages?userId=a%00b&from=%00',
    'GET /v1/sms/messages?%zz=&=&&x==y&limit=%ff',
    'GET /v1/sms/messages?__proto__=1&constructor=2',
    `GET /v1/sms/messages?userId=${'x'.repeat(8000)}`,
    'DELETE /v1/sms/%00',
    'PUT /v1/apps/..%2f..',
    'GET /v1/rc/connect?token=%00%ff',
    'GET /v1/rc/callback?code=%00&state=%00',
    `GET /v1/rc/callback?code=${'x'.repeat(8000)}&state=y`,
    'POST /v1/rc/connect',
  ]
  for (const line of requests) {
    const answer = await ask(world.url, [
      `${line} HTTP/1.1`,
      'Host: localhost',
      auth(world),
      'X-Junk: \x01\x7f\xff',
      'Content-Length: 0',
    ])
    expect(answer.status).toBeLessThan(500)
  }
})

test('two lengths, or a length with chunks, are refused', async () => {
  await using world = await quiet()
  for (const lines of [
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Content-Length: 2', 'Content-Length: 3'],
    ['Content-Length: x'],
  ]) {
    const answer = await ask(world.url, ['POST /v1/sms/send HTTP/1.1', 'Host: localhost', auth(world), ...lines], '0')
    expect(answer.status).toBe(400)
  }
})

test('Expect: 100-continue is answered', async () => {
  await using world = await quiet()
  const text = await exchange(
    world.url,
    `POST /v1/sms/send HTTP/1.1\r\nHost: localhost\r\n${auth(world)}\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    () => false,
  )
  expect(text).toContain('to, from, and body are required')
})

describe('a large page of a list', () => {
  const COUNT = 20
  const BODY = 'ü'.repeat(1600)

  const CLOSE = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

  async function large(): Promise<World> {
    const world = await quiet()
    for (let sent = 0; sent < COUNT; sent++) await world.send({ body: BODY })
    return world
  }
  const listing = (world: World, method: string, version: string, ...more: string[]): string =>
    [`${method} /v1/sms/messages ${version}`, 'Host: localhost', auth(world), ...more, '', ''].join('\r\n')
  const bodies = (json: string): string[] =>
    (JSON.parse(Buffer.from(json, 'latin1').toString()) as { messages: { body: string }[] }).messages.map(
      ({ body }) => body,
    )

  test('arrives completely in chunks, followed by the next answer', async () => {
    await using world = await large()
    const text = await exchange(world.url, listing(world, 'GET', 'HTTP/1.1'), (answer) => answer.endsWith('"ok"}'), {
      after: (answer) => answer.endsWith('\r\n0\r\n\r\n'),
      request: CLOSE,
    })
    const [, chunks = '', health = ''] = /\r\n\r\n([^]*\r\n0\r\n\r\n)(HTTP\/1.1 200 OK[^]*)$/.exec(text) ?? []
    expect(bodies(unchunked(chunks))).toEqual(Array(COUNT).fill(BODY))
    expect(health).toEndWith('{"status":"ok"}')
  })

  test('arrives completely at a client of HTTP/1.0', async () => {
    await using world = await large()
    const text = await exchange(world.url, listing(world, 'GET', 'HTTP/1.0'), () => false)
    expect(bodies(text.slice(text.indexOf('\r\n\r\n') + 4))).toEqual(Array(COUNT).fill(BODY))
  })

  test('has only a head for HEAD, and the connection stays open', async () => {
    await using world = await large()
    const text = await exchange(world.url, listing(world, 'HEAD', 'HTTP/1.1'), (answer) => answer.endsWith('"ok"}'), {
      after: (answer) => answer.endsWith('\r\n\r\n'),
      request: CLOSE,
    })
    expect(text.match(/^HTTP\/1.1 200 OK/gm)).toHaveLength(2)
    expect(text).not.toContain('messages')
  })
})

/** Decodes a chunked body (RFC 9112 7.1). */
function unchunked(text: string): string {
  let body = ''
  for (let at = 0; ;) {
    const end = text.indexOf('\r\n', at)
    const length = Number.parseInt(text.slice(at, end), 16)
    if (!(length >= 0)) throw new Error(`No chunk begins at ${at}`)
    if (length === 0) return body
    body += text.slice(end + 2, end + 2 + length)
    at = end + 2 + length + 2
  }
}
