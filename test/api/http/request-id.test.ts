import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world.ts'

const OWN = /^req_[0-9a-f]{16}$/

test('every kind of answer has its own X-Request-Id', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const paths = [
    '/health',
    '/v1/apps',
    '/v1/nothing',
    '/nothing',
    '/v1/sms/status/x',
    '/v1/rc/connect',
    '/v1/rc/callback',
    '/openapi.json',
    '/docs',
  ]
  const ids = await Promise.all(paths.map(async (path) => (await world.call('GET', path)).headers.get('x-request-id')))
  for (const id of ids) expect(id).toMatch(OWN)
  expect(new Set(ids).size).toBe(paths.length)
  expect((await world.call('GET', '/v1/apps', { key: null })).headers.get('x-request-id')).toMatch(OWN)
  expect((await world.call('POST', '/v1/sms/send', { body: 'x'.repeat(102_401) })).headers.get('x-request-id')).toMatch(
    OWN,
  )
})

test('the ids of many requests are distinct', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const answers = await Promise.all(Array.from({ length: 300 }, () => world.call('GET', '/health')))
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  for (const id of ids) expect(id).toMatch(OWN)
  expect(new Set(ids).size).toBe(300)
})

test('a valid incoming id is kept, on success and on error', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const id of ['trace-1', 'x'.repeat(128), '!~"<>']) {
    for (const path of ['/v1/apps', '/v1/nothing', '/v1/rc/connect']) {
      expect((await world.call('GET', path, { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id)
    }
  }
})

test('an incoming id that is too long or not visible ASCII is replaced', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const id of ['', 'x'.repeat(129), 'a b', 'é', 'a\tb']) {
    expect(
      (await world.call('GET', '/v1/apps', { headers: { 'x-request-id': id } })).headers.get('x-request-id'),
    ).toMatch(OWN)
  }
})
