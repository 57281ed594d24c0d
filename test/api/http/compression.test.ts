import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { type Route, route } from '../../../src/api/http/route.ts'
import { createServer } from '../../../src/api/http/server.ts'
import { createLocalServer } from '../../../src/server/app.ts'
import { signIn } from '../../support/operator.ts'
import { type World, createWorld } from '../../support/world.ts'

const quiet = (env: Record<string, string> = {}): Promise<World> => createWorld({ connect: false, work: false, env })

async function get(world: World, path: string, accepted: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.url}${path}`, {
    headers: { authorization: `Bearer ${world.key}`, 'accept-encoding': accepted, ...headers },
    decompress: false,
  })
  return { response, encoding: response.headers.get('content-encoding'), bytes: await response.bytes() }
}

const textOf = (bytes: Uint8Array, encoding: string | null): string =>
  Buffer.from(
    encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes,
  ).toString()

async function sendSome(world: World, count = 5): Promise<void> {
  for (let n = 0; n < count; n++) await world.send({ body: `${n} Grüße, 世界 👩‍👩‍👧 "quoted"`.repeat(5) })
}

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['BR', 'br'],
  ['br;q=0.5', 'br'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['br;q=0.000', null],
  ['brotli', null],
  ['gzip;q=0', null],
  ['identity', null],
  ['', null],
  ['*', null],
  ['x'.repeat(8000), null],
])('a client that accepts %p gets %p', async (accepted, expected) => {
  await using world = await quiet()
  await sendSome(world)
  const plain = await get(world, '/v1/sms/messages', 'identity')
  const found = await get(world, '/v1/sms/messages', accepted)
  expect(found.encoding).toBe(expected)
  expect(found.response.headers.get('vary')).toBe('Accept-Encoding')
  expect(found.response.headers.get('content-type')).toBe('application/json')
  expect(textOf(found.bytes, found.encoding)).toBe(textOf(plain.bytes, null))
  expect((JSON.parse(textOf(found.bytes, found.encoding)) as { messages: unknown[] }).messages).toHaveLength(5)
  if (expected !== null) expect(found.bytes.length).toBeLessThan(plain.bytes.length / 2)
})

test('every long JSON answer to a GET is compressed, also one that stays long', async () => {
  await using world = await quiet()
  const { gate } = world.gateway.database
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
    SELECT 'msg_' || i, 'job', '${world.tenantId}', 'app', 'inbound', '+1', '+2', hex(randomblob(800)), 'received', i, i FROM n`)
  for (const path of ['/v1/sms/messages?limit=100', '/v1/conversations', '/v1/overview']) {
    const plain = await get(world, path, 'identity')
    const { encoding, bytes } = await get(world, path, 'br')
    expect([path, encoding, plain.encoding]).toEqual([path, 'br', null])
    if (path !== '/v1/overview') expect([path, textOf(bytes, encoding)]).toEqual([path, textOf(plain.bytes, null)])
  }
  expect((await get(world, '/v1/sms/messages?limit=100', 'gzip')).bytes.length).toBeGreaterThan(50_000)
})

test('short answers, errors and answers to other methods are not compressed', async () => {
  await using world = await quiet()
  await sendSome(world)
  for (const path of [
    '/v1/apps',
    '/v1/sms/messages?limit=1&page=9',
    '/v1/sms/messages?state=x',
    '/nothing',
    '/health',
  ]) {
    const { response, encoding } = await get(world, path, 'br, gzip')
    expect([path, encoding, response.headers.get('vary')]).toEqual([path, null, null])
  }
  const body = JSON.stringify({ body: '世'.repeat(1600) })
  const response = await fetch(`${world.url}/v1/sms/preview`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}`, 'accept-encoding': 'br' },
    body,
    decompress: false,
  })
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null])
})

test('an answer of 1 KB is sent as it is, and one byte more is compressed', async () => {
  await using world = await quiet()
  const answers = [1024, 1025].map((length) =>
    route({
      operationId: `get${length}`,
      method: 'GET',
      path: `/${length}`,
      auth: 'none',
      tag: 'Test',
      summary: '',
      response: z.string(),
      run: () => `é${'x'.repeat(length - 4)}`,
    }),
  )
  await using served = listening(world, answers)
  const encodings = [1024, 1025].map(async (length) => (await served.get(`/${length}`)).headers.get('content-encoding'))
  expect(await Promise.all(encodings)).toEqual([null, 'br'])
})

test('an answer with a secret is never compressed', async () => {
  await using world = await quiet()
  const secret = route({
    operationId: 'getSecret',
    method: 'GET',
    path: '/secret',
    auth: 'none',
    tag: 'Test',
    summary: '',
    secret: true,
    response: z.string(),
    run: () => 'secret'.repeat(1000),
  })
  await using served = listening(world, [secret])
  const response = await served.get('/secret')
  expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([null, null])
  expect(await response.json()).toBe('secret'.repeat(1000))
})

/** A listener with these endpoints alone, asked by a client that accepts Brotli. */
function listening({ gateway }: World, routes: readonly Route[]) {
  const { server } = createServer(gateway, routes).listen({ port: 0, hostname: '127.0.0.1' })
  if (server === null) throw new Error('It does not listen')
  return {
    get: (path: string) => fetch(new URL(path, server.url), { headers: { 'accept-encoding': 'br' } }),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

test('on the Unix socket nothing is compressed', async () => {
  await using world = await quiet()
  const headers = { 'accept-encoding': 'br' }
  const request = new Request('http://localhost/v1/operator/doctor', { headers })
  const response = await createLocalServer(world.gateway).handle(request)
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null])
  expect(await response.json()).toContainEqual(expect.objectContaining({ check: 'server' }))
})

test('`Vary` names the origin as well where CORS is on, also of pages', async () => {
  await using world = await quiet({ CORS_ORIGINS: 'https://app.example.com' })
  await sendSome(world)
  const varying = async (path: string): Promise<string | undefined> =>
    (await get(world, path, 'br')).response.headers.get('vary')?.toLowerCase()
  expect(await varying('/v1/sms/messages')).toBe('origin, accept-encoding')
  expect(await varying('/openapi.json')).toBe('accept-encoding, origin')
  expect(await varying('/v1/me')).toBe('origin')
})

test('an operator’s answers are compressed, too', async () => {
  await using world = await quiet()
  const { token } = await signIn(world)
  const headers = { authorization: `Bearer ${token}` }
  const { encoding, bytes } = await get(world, '/v1/operator/doctor', 'br', headers)
  expect(encoding).toBe('br')
  expect(JSON.parse(textOf(bytes, encoding))).toContainEqual(expect.objectContaining({ check: 'server' }))
})
