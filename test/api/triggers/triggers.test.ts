import { describe, expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { type World, createWorld } from '../../support/world.ts'

interface Created {
  triggerId: string
  callbackUrl: string
  secret: string
  createdAt: string
}

const URL_1 = 'http://127.0.0.1:9/one'
const BAD_URL = 'Invalid callbackUrl: must be https:// in production, max 2000 chars'
const quiet = { connect: false, work: false }

const create = (world: World, callbackUrl: unknown = URL_1, key = world.key): Promise<Response> =>
  world.call('POST', '/v1/triggers', { key, body: { callbackUrl } })
const created = async (world: World, callbackUrl = URL_1, key = world.key): Promise<Created> =>
  (await (await create(world, callbackUrl, key)).json()) as Created

test('create answers 201 with the secret, which is never shown again; the list is oldest first', async () => {
  await using world = await createWorld(quiet)
  const answer = await create(world)
  expect(answer.status).toBe(201)
  const first = (await answer.json()) as Created
  expect(first).toEqual({
    triggerId: expect.stringMatching(/^trg_[0-9a-f]{16}$/),
    callbackUrl: URL_1,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  const second = await created(world, 'https://example.com/hook')
  const { secret: _1, ...firstItem } = first
  const { secret: _2, ...secondItem } = second
  const listed = await world.json('GET', '/v1/triggers')
  expect(listed).toEqual({ status: 200, body: { triggers: [firstItem, secondItem] } })
  expect(first.secret).not.toBe(second.secret)
  const { rows } = await world.gateway.database.gate.execute('SELECT secret FROM triggers')
  for (const row of rows) expect(String(row['secret'])).not.toContain('whsec_')
})

describe('a callbackUrl that is refused', () => {
  const urls: [string, unknown][] = [
    ['null', null],
    ['a number', 7],
    ['empty', ''],
    ['no address', 'hello'],
    ['another scheme', 'ftp://example.com/'],
    ['with a user', 'http://a:b@example.com/'],
    ['link-local', 'http://169.254.169.254/'],
    ['unspecified', 'http://0.0.0.0/'],
    ['2001 characters', `https://example.com/${'a'.repeat(1981)}`],
  ]
  test.each(urls)('%s', async (_name, url) => {
    await using world = await createWorld(quiet)
    await expectError(await create(world, url), 400, BAD_URL)
    expect((await world.json('GET', '/v1/triggers')).body).toEqual({ triggers: [] })
  })
})

test('2000 characters are allowed; broken JSON and a body that is not an object are refused', async () => {
  await using world = await createWorld(quiet)
  expect((await create(world, `https://example.com/${'a'.repeat(1980)}`)).status).toBe(201)
  await expectError(await world.call('POST', '/v1/triggers', { body: '{' }), 400, 'Invalid JSON')
  for (const body of ['{}', '[]', 'null', '"x"', ''])
    await expectError(await world.call('POST', '/v1/triggers', { body }), 400, BAD_URL)
})

test('a trigger can be deleted once', async () => {
  await using world = await createWorld(quiet)
  const { triggerId } = await created(world)
  expect(await world.json('DELETE', `/v1/triggers/${triggerId}`)).toEqual({ status: 200, body: { ok: true } })
  await expectError(await world.call('DELETE', `/v1/triggers/${triggerId}`), 404, 'Trigger not found')
  expect((await world.json('GET', '/v1/triggers')).body).toEqual({ triggers: [] })
})

test('a malformed id is 400, an unknown one 404', async () => {
  await using world = await createWorld(quiet)
  for (const id of ['x', 'trg_123', 'trg_00000000000000AB', 'trg_00000000000000000', `app_${'0'.repeat(16)}`]) {
    await expectError(await world.call('DELETE', `/v1/triggers/${id}`), 400, 'Invalid triggerId format')
  }
  await expectError(await world.call('DELETE', `/v1/triggers/trg_${'0'.repeat(16)}`), 404, 'Trigger not found')
})

test('another app of the tenant can see and delete a trigger, and another tenant cannot', async () => {
  await using world = await createWorld(quiet)
  const { triggerId } = await created(world)
  const stranger = await world.otherTenant()
  expect((await world.json('GET', '/v1/triggers', { key: stranger.apiKey })).body).toEqual({ triggers: [] })
  await expectError(
    await world.call('DELETE', `/v1/triggers/${triggerId}`, { key: stranger.apiKey }),
    404,
    'Trigger not found',
  )
  const second = await world.secondApp()
  expect((await world.json('GET', '/v1/triggers', { key: second.apiKey })).body).toMatchObject({
    triggers: [{ triggerId }],
  })
  expect((await world.call('DELETE', `/v1/triggers/${triggerId}`, { key: second.apiKey })).status).toBe(200)
})

test('the endpoints require a key', async () => {
  await using world = await createWorld(quiet)
  for (const [method, path] of [
    ['GET', '/v1/triggers'],
    ['POST', '/v1/triggers'],
    ['DELETE', '/v1/triggers/x'],
  ] as const) {
    await expectError(await world.call(method, path, { key: null }), 401, 'Missing or invalid API key')
  }
})
