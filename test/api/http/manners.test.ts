import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { ROUTES } from '../../../src/server/app.ts'
import { newLogin, signIn } from '../../support/operator.ts'
import { FROM, TO, createWorld } from '../../support/world.ts'

test('a 401 names the scheme of authentication', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const key of [null, 'sgw_unknown']) {
    const answer = await world.call('GET', '/v1/apps', { key })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  }
  expect((await world.call('GET', '/v1/apps')).headers.get('www-authenticate')).toBeNull()
})

test('no cache keeps an answer with a secret', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { appId, tenantId } = world.app
  const login = await newLogin(world)
  const secrets: [path: string, body?: unknown, key?: null][] = [
    ['/v1/apps/register', { name: 'Second', tenantId }],
    [`/v1/apps/${appId}/rotate-webhook-secret`],
    ['/v1/rc/connect-token'],
    ['/v1/rc/invite-token'],
    ['/v1/triggers', { callbackUrl: 'https://example.com/' }],
    ['/v1/ws/token'],
    ['/v1/operator/session', { login }, null],
    [`/v1/apps/${appId}/rotate-key`],
  ]
  for (const [path, body, key] of secrets) {
    const answer = await world.call('POST', path, { body, ...(key === null ? { key } : {}) })
    expect([path, answer.ok]).toEqual([path, true])
    expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store'])
    expect([path, answer.headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
  }
})

test('no cache keeps what a key reads or is refused, of any endpoint', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '200' } })
  const id = (name: string): string => `${name}_${'0'.repeat(name === 'msg' ? 12 : 16)}`
  const filled = (path: string): string => path.replaceAll(/:(\w+?)Id/g, (_, of: string) => id(IDS[of] ?? 'x'))
  const { token } = await signIn(world)
  const once = { 'idempotency-key': 'once' }
  const body = { from: FROM, to: TO, body: 'x' }
  for (const replayed of [null, 'true']) {
    const answer = await world.call('POST', '/v1/sms/send', { body, headers: once })
    expect([answer.headers.get('idempotent-replayed'), answer.headers.get('cache-control')]).toEqual([
      replayed,
      'no-store',
    ])
  }
  const large = await world.call('POST', '/v1/sms/send', { body: 'x'.repeat(102_401) })
  expect([large.status, large.headers.get('cache-control')]).toEqual([413, 'no-store'])
  const keys: [key: string | null, headers?: Record<string, string>][] = [
    [world.key],
    [null],
    ['sgw_wrong'],
    [token],
    [token, { 'sgw-app': world.app.appId }],
  ]
  for (const [key, headers = {}] of keys)
    for (const { method, path } of ROUTES.filter(({ method: each }) => each === 'GET' || each === 'PUT')) {
      const answer = await world.call(method, filled(path), { key, headers })
      expect([method, path, key, answer.headers.get('cache-control')]).toEqual([
        method,
        path,
        key,
        expect.stringContaining('no-store'),
      ])
    }
  // The wrong key has blocked the address.
  let last = large
  for (let asked = 0; asked < 200 && last.status !== 429; asked++) last = await world.call('GET', '/v1/me')
  expect([last.status, last.headers.get('cache-control')]).toEqual([429, 'no-store'])
  for (const path of ['/docs', '/openapi.json', '/console/main.js'])
    expect((await world.call('GET', path)).headers.get('cache-control')).toBe('no-cache')
})

const IDS: Readonly<Record<string, string>> = { message: 'msg', app: 'app', trigger: 'trg', tenant: 'tenant' }

test('content types have one spelling', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const paths = [
    '/health',
    '/v1/apps',
    '/nothing',
    '/ws',
    '/v1/rc/callback',
    '/v1/rc/connect',
    '/openapi.json',
    '/docs',
  ]
  const files = ['/docs/docs.css', '/docs/start.js', '/console/', '/console/main.js']
  const answers = await Promise.all([...paths, ...files].map((path) => world.call('GET', path)))
  expect(new Set(answers.map(({ headers }) => headers.get('content-type')))).toEqual(
    new Set([
      'application/json',
      'text/html; charset=utf-8',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
    ]),
  )
  // Response.json spells it differently.
  const sources = readdirSync('src/api', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(sources.filter((name) => readFileSync(`src/api/${name}`, 'utf8').includes('Response.json'))).toEqual([])
})

test('the document and the files of the page are compressed, and not sent again to a client that has them', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/docs/start.js']) {
    const plain = await (await world.call('GET', path, { headers: { 'accept-encoding': 'identity' } })).text()
    const headers = { 'accept-encoding': 'br' }
    const response = await fetch(`${world.url}${path}`, { headers, decompress: false })
    expect([path, response.headers.get('content-encoding')]).toEqual([path, 'br'])
    const bytes = await response.bytes()
    expect(brotliDecompressSync(bytes).toString()).toBe(plain)
    const etag = response.headers.get('etag') ?? ''
    const again = await world.call('GET', path, { headers: { ...headers, 'if-none-match': etag } })
    expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
  }
})
