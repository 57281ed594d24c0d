import { expect, test } from 'bun:test'
import { readConfig } from '../../../src/core/config.ts'
import { type World, createWorld } from '../../support/world.ts'

const APP = 'https://app.example.com'
const EXPOSED = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed, X-Ignored-Fields'

const quiet = (origins?: string): Promise<World> =>
  createWorld({ connect: false, work: false, ...(origins === undefined ? {} : { env: { CORS_ORIGINS: origins } }) })

const preflight = (world: World, origin: string, path = '/v1/sms/send'): Promise<Response> =>
  world.call('OPTIONS', path, {
    key: null,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    },
  })

const corsHeaders = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-') || name === 'vary')

test('CORS is off by default, and no answer has a CORS header', async () => {
  await using world = await quiet()
  expect(corsHeaders(await world.call('GET', '/v1/apps', { headers: { origin: APP } }))).toEqual([])
  const refused = await preflight(world, APP)
  expect(refused.status).toBe(401)
  expect(corsHeaders(refused)).toEqual([])
})

test('a preflight of an allowed origin is answered without a key', async () => {
  await using world = await quiet(`${APP}, https://other.example.com`)
  const response = await preflight(world, APP)
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Sgw-App, X-Request-Id',
    'access-control-max-age': '600',
    vary: 'Origin',
  })
  expect(response.headers.get('x-request-id')).not.toBeNull()
  expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  expect((await preflight(world, 'https://other.example.com')).headers.get('access-control-allow-origin')).toBe(
    'https://other.example.com',
  )
})

test('a preflight counts towards no limit and is not blocked', async () => {
  await using world = await createWorld({
    env: { NODE_ENV: 'production', CORS_ORIGINS: APP, KEY_LIMIT_PER_MINUTE: '1' },
  })
  for (let time = 0; time < 15; time++) expect((await preflight(world, APP)).status).toBe(204)
})

test('pages of an allowed origin may read answers, also errors', async () => {
  await using world = await quiet(APP)
  const headers = { origin: APP }
  const asks = [
    world.call('GET', '/v1/apps', { headers }),
    world.call('GET', '/v1/apps', { key: null, headers }),
    world.call('GET', '/nothing', { headers }),
    world.call('GET', '/v1/rc/connect', { headers }),
  ]
  for (const response of await Promise.all(asks)) {
    expect(response.headers.get('access-control-allow-origin')).toBe(APP)
    expect(response.headers.get('access-control-expose-headers')).toBe(EXPOSED)
    expect(response.headers.get('vary')).toBe('Origin')
  }
})

test('an origin that resembles an allowed one is not allowed', async () => {
  await using world = await quiet(APP)
  for (const origin of [
    'https://evil.example',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://APP.example.com',
    'null',
  ]) {
    expect((await preflight(world, origin)).status).toBe(401)
    const response = await world.call('GET', '/v1/apps', { headers: { origin } })
    expect(response.status).toBe(200)
    expect(corsHeaders(response)).toEqual(['vary'])
  }
})

test('a request without an origin is served as usual, and caches must distinguish origins', async () => {
  await using world = await quiet(APP)
  const response = await world.call('GET', '/v1/apps')
  expect(response.status).toBe(200)
  expect(corsHeaders(response)).toEqual(['vary'])
})

test('a star allows every origin', async () => {
  await using world = await quiet('*')
  expect((await preflight(world, 'https://anyone.example')).status).toBe(204)
  expect(
    (await world.call('GET', '/v1/apps', { headers: { origin: 'https://anyone.example' } })).headers.get(
      'access-control-allow-origin',
    ),
  ).toBe('*')
})

test('an OPTIONS request that is not a preflight passes the usual checks', async () => {
  await using world = await quiet(APP)
  expect((await world.call('OPTIONS', '/v1/apps', { key: null, headers: { origin: APP } })).status).toBe(401)
  expect((await world.call('OPTIONS', '/v1/apps', { headers: { origin: APP } })).status).toBe(404)
})

test('CORS_ORIGINS accepts only origins, with or without a slash at the end', () => {
  const read = (value: string) => readConfig({ values: { CORS_ORIGINS: value }, readFile: () => '' })
  expect(read(`${APP}/, http://localhost:5173`)).toMatchObject({
    ok: true,
    config: { corsOrigins: [APP, 'http://localhost:5173'] },
  })
  for (const bad of [
    'app.example.com',
    'https://app.example.com/x',
    'https://*.example.com',
    'null',
    'https://app.example.com:443',
  ]) {
    expect(read(bad)).toMatchObject({ ok: false, problems: [expect.stringContaining('CORS_ORIGINS')] })
  }
})
