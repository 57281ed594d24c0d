import { expect, test } from 'bun:test'
import { ROUTES } from '../../../src/server/app.ts'
import { listenAsStandby } from '../../../src/server/standby/listener.ts'
import { signIn } from '../../support/operator.ts'
import { freePort } from '../../support/program.ts'
import { ask, exchange } from '../../support/raw-http.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

const quiet = (env: Record<string, string> = {}): Promise<World> =>
  createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '100000', ...env } })
const auth = (world: World): string => `Authorization: Bearer ${world.key}`
const NOT_FOUND = { status: 404, body: '{"error":"Not found"}' }

/** How a client, a load balancer or an old device names the host; the last two are HTTP/1.0. */
const HOSTS: readonly (readonly [version: string, ...host: string[]])[] = [
  ['HTTP/1.1', 'Host: localhost:3000'],
  ['HTTP/1.1', 'Host: a'],
  ['HTTP/1.1', 'Host: '],
  ['HTTP/1.0', 'Host: sgw'],
  ['HTTP/1.0'],
]

const ID = { ':messageId': 'msg_0123456789ab', ':appId': 'app_0123456789abcdef', ':triggerId': 'trg_0123456789abcdef' }
const filledPath = (path: string): string =>
  path.replaceAll(/:\w+/g, (name) => (name in ID ? ID[name as keyof typeof ID] : 'x'))

test('every endpoint and page is the same with a slash at the end, however the host is written', async () => {
  await using world = await quiet()
  const pages = ['/', '/openapi.json', '/console/main.js'].map((path) => ({ method: 'GET', path }))
  for (const [version, ...host] of HOSTS)
    for (const { method, path } of [...ROUTES, ...pages]) {
      const answer = (target: string) =>
        ask(world.url, [`${method} ${target} ${version}`, ...host, auth(world), 'Content-Length: 2'], '{}')
      const target = filledPath(path)
      const plain = await answer(target)
      const slash = await answer(target === '/' ? '/' : `${target}/`)
      expect([version, host, method, path, slash.status, errorOf(slash.body)]).toEqual([
        version,
        host,
        method,
        path,
        plain.status,
        errorOf(plain.body),
      ])
    }
}, 60_000)

const errorOf = (body: string): string => (body.startsWith('{"error"') ? body : '')

test('a send with a slash at the end is accepted and counts for the same limits, and two slashes are none', async () => {
  for (const [version, ...host] of HOSTS) {
    await using world = await quiet({ KEY_LIMIT_PER_MINUTE: '2' })
    const body = JSON.stringify({ to: TO, from: FROM, body: 'x' })
    const send = (path: string) =>
      ask(world.url, [`POST ${path} ${version}`, ...host, auth(world), `Content-Length: ${body.length}`], body)
    expect(await send('/v1/sms/send/')).toMatchObject({
      status: 202,
      headers: { ratelimit: expect.stringContaining('r=1') },
    })
    expect(await send('/v1/sms/send//')).toMatchObject(NOT_FOUND)
    expect((await send('/v1/sms/send/')).status).toBe(429)
  }
})

test('in production a path with a slash needs HTTPS as without it, and the paths of load balancers do not', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production' }, work: false })
  for (const [version, ...host] of HOSTS) {
    expect((await ask(world.url, [`GET /health/ ${version}`, ...host])).status).toBe(200)
    for (const path of ['/v1/me/', '/console/', '/ws/', '/v1/health/', '/health//'])
      expect([path, await ask(world.url, [`GET ${path} ${version}`, ...host, auth(world)])]).toMatchObject([
        path,
        { status: 403, body: '{"error":"HTTPS required"}' },
      ])
  }
})

test('a path that is only right once it is decoded or normalised is none, with a key and without', async () => {
  await using world = await quiet()
  const wrong = String.raw`
    //v1/me ///v1/me /v1//me /v1/me// /v1%2fme /v1%2Fme /v1%5cme /%761/me /v1/m%65
    /v1/me;x /v1/me%20 /v1/me%2f /v1/..%2fv1/me /V1/me /v1/me/x /v1\me /v1\me/ /v1/x/../me
    /v1/x/../me/ /v1/./me /v1/%2e%2e/v1/me /v1/%2E/me /\v1/me /health/../v1/me /health\..\v1\me /health/x/../../v1/me/ /v1/sms/send/../../me/
    /v1/me/..\me /x/../health /console/..\docs`
  for (const target of wrong.trim().split(/\s+/))
    for (const [version, ...host] of HOSTS) {
      const lines = [`GET ${target} ${version}`, ...host]
      expect([target, host, await ask(world.url, [...lines, auth(world)])]).toMatchObject([target, host, NOT_FOUND])
      expect([401, 404]).toContain((await ask(world.url, lines)).status)
    }
})

test('a path that is not right leads to no operator endpoint, with an operator’s token either', async () => {
  await using world = await quiet()
  const { token } = await signIn(world)
  const statuses = async (path: string): Promise<number[]> => {
    const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost:3000']
    const keys = [`Authorization: Bearer ${token}`, auth(world)]
    return Promise.all(keys.map(async (key) => (await ask(world.url, [...lines, key])).status))
  }
  for (const path of ['/v1/operator/status', '/v1/operator/status/'])
    expect([path, await statuses(path)]).toEqual([path, [200, 403]])
  for (const path of [
    '/v1\\operator/status',
    '/v1/x/../operator/status',
    '/health/../v1/operator/status/',
    '/v1/me\\..\\operator/status',
  ])
    expect([path, await statuses(path)]).toEqual([path, [404, 403]])
})

test('a path that is not right sends nothing, changes nothing, and in production needs HTTPS', async () => {
  const body = JSON.stringify({ to: TO, from: FROM, body: 'x' })
  await using world = await quiet()
  for (const path of [
    '/v1\\sms\\send',
    '/v1/sms/x/../send',
    '/v1/sms//send',
    '/v1/sms%2fsend',
    '/v1/sms/preview/../send/',
  ]) {
    const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost:3000', auth(world), `Content-Length: ${body.length}`]
    expect([path, await ask(world.url, lines, body)]).toMatchObject([path, NOT_FOUND])
  }
  expect((await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total).toBe(0)
  await using production = await createWorld({ env: { NODE_ENV: 'production' }, work: false })
  for (const path of ['/health/../v1/me', '/health\\..\\v1\\me', '/v1/%2e%2e/v1/me'])
    expect(await ask(production.url, [`GET ${path} HTTP/1.1`, 'Host: localhost:3000', auth(production)])).toMatchObject(
      { status: 403, body: '{"error":"HTTPS required"}' },
    )
})

test('two Host headers, or one with two names, are refused on every path', async () => {
  await using world = await quiet()
  for (const host of [
    ['Host: a', 'Host: b'],
    ['Host: localhost:3000', 'Host: localhost:3000'],
    ['host: a', 'HOST: b'],
    ['Host: a, b'],
    ['Host: ', 'Host: a'],
  ])
    for (const path of ['/health', '/v1/me', '/console/', '/docs', '/nothing', '/ws'])
      expect([host, path, await ask(world.url, [`GET ${path} HTTP/1.1`, ...host, auth(world)])]).toMatchObject([
        host,
        path,
        { status: 400, body: '{"error":"Invalid Host"}' },
      ])
  expect((await ask(world.url, ['GET /v1/me HTTP/1.1', 'Host: a', auth(world)])).status).toBe(200)
})

/** Status and headers of an answer without a body, whatever `Content-Length` says. */
async function head(url: string, method: string, path: string, ...lines: string[]): Promise<string[]> {
  const request = [`${method} ${path} HTTP/1.1`, 'Connection: close', ...lines, '', ''].join('\r\n')
  const text = await exchange(url, request, () => false)
  const end = text.indexOf('\r\n\r\n')
  if (method === 'HEAD') expect(text.slice(end + 4)).toBe('')
  const own = text
    .slice(0, end)
    .toLowerCase()
    .split('\r\n')
    .filter((line) => !/^(date|x-request-id|ratelimit|transfer-encoding|connection):?/.test(line))
    // An overview has the time of the request, so it is not always compressed to the same length.
    .map((line) => line.replace(/^(content-length): [1-9]\d*$/, '$1: some'))
  return own.toSorted()
}

test('HEAD has the status and the headers of GET, of every endpoint and page that has GET', async () => {
  await using world = await quiet()
  const pages = ['/', '/console', '/console/', '/console/main.js', '/docs', '/openapi.json', '/nothing']
  const endpoints = ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => filledPath(path))
  for (const path of [...endpoints, ...pages])
    for (const host of ['Host: localhost:3000', 'Host: a'])
      for (const accept of ['Accept: */*', 'Accept: text/html\r\nAccept-Encoding: br'])
        expect([path, host, await head(world.url, 'HEAD', path, host, auth(world), accept)]).toEqual([
          path,
          host,
          await head(world.url, 'GET', path, host, auth(world), accept),
        ])
}, 60_000)

test('the listeners of metrics and of a standby answer HEAD and a slash at the end, too', async () => {
  await using world = await createWorld({ env: { ADMIN_PORT: '0' }, connect: false })
  const admin = world.running.adminUrl ?? ''
  for (const path of ['/metrics', '/metrics/', '/ready', '/ready/'])
    for (const method of ['GET', 'HEAD'])
      expect([method, path, await head(admin, method, path, 'Host: a')]).toEqual([
        method,
        path,
        expect.arrayContaining(['http/1.1 200 ok']),
      ])
  for (const [method, path] of [
    ['POST', '/metrics'],
    ['GET', '/nothing'],
    ['HEAD', '/metrics//'],
  ] as const)
    expect((await fetch(`${admin}${path}`, { method })).status).toBe(404)
  const port = freePort()
  const standby = listenAsStandby({ ...world.gateway.config, port, adminPort: null })
  try {
    for (const path of ['/health', '/health/'])
      for (const method of ['GET', 'HEAD'])
        expect([path, await head(`http://127.0.0.1:${port}`, method, path, 'Host: a')]).toEqual([
          path,
          expect.arrayContaining(['http/1.1 200 ok']),
        ])
  } finally {
    await standby.stop()
  }
})
