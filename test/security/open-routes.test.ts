import { describe, expect, test } from 'bun:test'
import { ROUTES } from '../../src/server/app.ts'
import { expectError } from '../support/expect-error.ts'
import { ask } from '../support/raw-http.ts'
import { type World, createWorld } from '../support/world.ts'

// Deny by default: every endpoint outside this list requires a key, for every spelling of its path.
const OPEN = [
  'GET /health',
  'GET /ready',
  'GET /v1/rc/callback',
  'GET /v1/rc/connect',
  'GET /ws',
  'POST /v1/operator/session',
  'POST /v1/rc/connect',
  'POST /v1/webhooks/provider',
]

const IDS: Readonly<Record<string, string>> = {
  messageId: 'msg_0123456789ab',
  appId: 'app_0123456789abcdef',
  triggerId: 'trg_0123456789abcdef',
  tenantId: 'tenant_0123456789abcdef',
}
const pathOf = (path: string): string => path.replaceAll(/:(\w+)/g, (_, name: string) => IDS[name] ?? 'x')
const guarded = ROUTES.filter((route) => route.auth !== 'none').map((route) => ({
  method: route.method,
  path: pathOf(route.path),
}))

const MISSING = '{"error":"Missing or invalid API key"}'

describe('endpoints without a key', () => {
  test('the list of open endpoints is the contract’s, and /ready', () => {
    expect(
      ROUTES.filter((route) => route.auth === 'none')
        .map((route) => `${route.method} ${route.path}`)
        .toSorted(),
    ).toEqual(OPEN)
  })

  test('every other endpoint answers 401 and nothing else', async () => {
    await using world = await createWorld({ connect: false, work: false })
    expect(guarded.length).toBeGreaterThanOrEqual(18)
    for (const { method, path } of guarded) {
      const answer = await world.call(method, path, { key: null })
      expect([...answer.headers.keys()].filter((name) => /^(ratelimit|retry-after|set-cookie)/.test(name))).toEqual([])
      await expectError(answer, 401, 'Missing or invalid API key')
    }
  })

  test('every other method and every unknown path below /v1 answers 401', async () => {
    await using world = await createWorld({ connect: false, work: false })
    const paths = new Set([
      ...guarded.map(({ path }) => path),
      '/v1/x',
      '/v1/',
      '/v1/rc',
      '/v1/rc/connect/x',
      '/v1/webhooks',
      '/v1/webhooks/provider/x',
    ])
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        const answer = await ask(world.url, [`${method} ${path} HTTP/1.1`, 'Host: sms.example.com'])
        if (path === '/v1/') expect(answer.status).toBeOneOf([401, 404])
        // This one is open, and its path is guarded for other methods.
        else if (path === '/v1/operator/session' && method === 'POST')
          expect(answer).toMatchObject({ status: 401, body: '{"error":"Invalid or expired login"}' })
        else
          expect({ method, path, status: answer.status, body: answer.body }).toEqual({
            method,
            path,
            status: 401,
            body: MISSING,
          })
      }
    }
  })
})

/** Other spellings of a path. A server that normalises one after its checks would accept it. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'trailing slash': (path) => `${path}/`,
  'two trailing slashes': (path) => `${path}//`,
  'leading double slash': (path) => `/${path}`,
  'double slash inside': (path) => path.replace('/v1/', '/v1//'),
  'escaped letter': (path) => path.replace('/v1/', '/%761/'),
  'escaped slash': (path) => path.replace('/v1/', '/v1%2f'),
  'escaped letter behind': (path) =>
    path.replace(
      /([a-z])([^/]*)$/,
      (_, letter: string, rest: string) => `%${letter.charCodeAt(0).toString(16)}${rest}`,
    ),
  'dot segment': (path) => path.replace('/v1/', '/v1/./'),
  'up from an open path': (path) => `/health/..${path}`,
  'up from another open path': (path) => `/v1/rc/connect/../..${path.slice(3)}`,
  'escaped dots': (path) => `/health/%2e%2e${path}`,
  'upper case': (path) => path.replace('/v1/', '/V1/'),
  'matrix parameter': (path) => `${path};x=/health`,
  backslash: (path) => path.replace('/v1/', '/v1\\'),
  'open path as fragment': (path) => `${path}#/health`,
  'open path as query': (path) => `${path}?/v1/rc/connect`,
  'NUL escaped': (path) => `${path}%00`,
  'overlong slash': (path) => path.replace('/v1/', '/v1%c0%af'),
  'absolute form': (path) => `http://sms.example.com${path}`,
  'absolute form, open host': (path) => `http://health${path}`,
}

const LINES: Readonly<Record<string, (method: string, path: string) => string[]>> = {
  'an invalid Host': (method, path) => [`${method} ${path} HTTP/1.1`, 'Host: a'],
  'an open path in Host': (method, path) => [`${method} ${path} HTTP/1.1`, 'Host: x/v1/rc/connect?'],
  'a fragment in Host': (method, path) => [`${method} ${path} HTTP/1.1`, 'Host: x/health#'],
  'HTTP/1.0 without Host': (method, path) => [`${method} ${path} HTTP/1.0`],
  'rewriting headers': (method, path) => [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    'X-Original-URL: /health',
    'X-Rewrite-URL: /health',
    'X-HTTP-Method-Override: OPTIONS',
    'X-Forwarded-Prefix: /health',
  ],
  'a forged caller': (method, path) => [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    'X-Forwarded-User: admin',
    'X-Tenant-Id: tenant_0123456789abcdef',
    'X-App-Id: app_0123456789abcdef',
    'Cookie: apiKey=sgw_x',
  ],
}

describe('no spelling of a protected path is accepted without a key', () => {
  for (const [name, spell] of Object.entries(SPELLINGS)) {
    test(name, async () => {
      await using world = await createWorld({ connect: false, work: false })
      const letIn = await Promise.all(
        guarded.map(({ method, path }) =>
          acceptedLine(world, [`${method} ${spell(path)} HTTP/1.1`, 'Host: sms.example.com']),
        ),
      )
      expect(letIn.filter((line) => line !== null)).toEqual([])
    })
  }

  for (const [name, lines] of Object.entries(LINES)) {
    test(`with ${name}`, async () => {
      await using world = await createWorld({ connect: false, work: false })
      const letIn = await Promise.all(guarded.map(({ method, path }) => acceptedLine(world, lines(method, path))))
      expect(letIn.filter((line) => line !== null)).toEqual([])
    })
  }
})

/** Returns the request line if the answer is not a refusal. */
async function acceptedLine(world: World, lines: string[]): Promise<string | null> {
  const { status, body } = await ask(world.url, lines)
  // A JWT is refused before anything else where it has crossed a network in clear.
  const isInClear = lines[0]?.includes('/v1/operator/extensions') === true && body === '{"error":"HTTPS required"}'
  return [400, 401, 404].includes(status) || (status === 403 && isInClear) ? null : `${lines[0]} → ${status}`
}

test('an Authorization header of another form is refused: schemes, spaces, case, two headers', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { key } = world
  const headers = [
    `bearer ${key}`,
    `BEARER ${key}`,
    `Bearer  ${key}`,
    `Bearer\t${key}`,
    `Token ${key}`,
    `Basic ${btoa(`${key}:`)}`,
    key,
  ]
  for (const value of headers) {
    world.gateway.failedAttempts.note = () => undefined
    const { status } = await ask(world.url, ['GET /v1/apps HTTP/1.1', 'Host: a', `Authorization: ${value}`])
    expect({ value, status }).toEqual({ value, status: 401 })
  }
  const twice = await ask(world.url, [
    'GET /v1/apps HTTP/1.1',
    'Host: a',
    'Authorization: Bearer sgw_other',
    `Authorization: Bearer ${key}`,
  ])
  expect(twice.status).toBe(401)
  expect((await ask(world.url, ['GET /v1/apps HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`])).status).toBe(200)
})
