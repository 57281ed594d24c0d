import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type World, createWorld, recordedLog } from '../support/world.ts'

const BLOCKED_PATHS = [
  ['GET', '/v1/apps'],
  ['POST', '/v1/sms/send'],
  ['GET', '/v1/nothing'],
  ['GET', '/ws'],
] as const

async function fail(world: World, times: number, headers: Record<string, string> = {}): Promise<void> {
  for (let attempt = 0; attempt < times; attempt++) {
    await expectError(await world.call('GET', '/v1/apps', { key: 'sgw_wrong', headers }), 401, 'Invalid API key')
  }
}

test('the tenth failure blocks the address for 15 minutes: the eleventh request is 429, even with a valid key', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  await fail(world, 9)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  await fail(world, 1)
  const blocked = await world.call('GET', '/v1/apps')
  expect(blocked.headers.get('retry-after')).toBe('900')
  await expectError(blocked, 429, 'Too many requests')
  for (const [method, path] of BLOCKED_PATHS) expect((await world.call(method, path)).status).toBe(429)
  clock.advance(899_001)
  expect((await world.call('GET', '/v1/apps')).headers.get('retry-after')).toBe('1')
  clock.advance(999)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

test('the log says which address is blocked, and how that ends', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  await fail(world, 9)
  expect(lines.join()).not.toContain('sgw unblock')
  await fail(world, 1)
  expect(lines.filter((line) => line.includes('sgw unblock'))).toEqual([
    expect.stringContaining('"address":"127.0.0.1"'),
  ])
})

test('a blocked address can use endpoints that need no key', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await fail(world, 10)
  expect((await world.call('GET', '/health', { key: null })).status).toBe(200)
  expect((await world.call('GET', '/v1/rc/connect', { key: null })).status).toBe(400)
  expect((await world.call('GET', '/v1/rc/callback', { key: null })).status).toBe(400)
  expect((await world.call('POST', '/v1/webhooks/provider', { key: null })).status).toBe(401)
})

test('requests from a blocked address do not extend the block', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  await fail(world, 10)
  clock.advance(600_000)
  for (let attempt = 0; attempt < 20; attempt++) await world.call('GET', '/v1/apps', { key: 'sgw_wrong' })
  clock.advance(300_000)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

test('failures count for 5 minutes, and a success does not reset them', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  await fail(world, 9)
  clock.advance(300_000)
  await fail(world, 9)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  await fail(world, 1)
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
})

test('a credential of another form counts as a failure; a missing credential does not', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (let attempt = 0; attempt < 15; attempt++)
    expect((await world.call('GET', '/v1/apps', { key: null })).status).toBe(401)
  for (let attempt = 0; attempt < 10; attempt++) {
    await expectError(
      await world.call('GET', '/v1/apps', { key: null, headers: { authorization: 'Basic eA==' } }),
      401,
      'Missing or invalid API key',
    )
  }
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
})

test('behind a trusted proxy, the rightmost untrusted address is counted', async () => {
  await using world = await createWorld({
    connect: false,
    work: false,
    env: { TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' },
  })
  await fail(world, 10, { 'x-forwarded-for': '1.1.1.1, 203.0.113.7, 10.1.2.3' })
  const from = async (forwarded: string): Promise<number> =>
    (await world.call('GET', '/v1/apps', { headers: { 'x-forwarded-for': forwarded } })).status
  expect(await from('203.0.113.7')).toBe(429)
  expect(await from('9.9.9.9, 203.0.113.7')).toBe(429)
  expect(await from('1.1.1.1')).toBe(200)
  expect(await from('203.0.113.7, 203.0.113.8')).toBe(200)
})

test('IPv6 addresses count by /64, and an IPv4-mapped address counts as its IPv4 address', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  for (let attempt = 0; attempt < 10; attempt++) await fail(world, 1, { 'x-forwarded-for': `2001:db8:1:2::${attempt}` })
  const from = async (forwarded: string): Promise<number> =>
    (await world.call('GET', '/v1/apps', { headers: { 'x-forwarded-for': forwarded } })).status
  expect(await from('2001:db8:1:2:ffff::1')).toBe(429)
  expect(await from('2001:db8:1:3::1')).toBe(200)
  await fail(world, 10, { 'x-forwarded-for': '::ffff:203.0.113.9' })
  expect(await from('203.0.113.9')).toBe(429)
  expect(await from('203.0.113.10')).toBe(200)
})

test('without TRUSTED_PROXIES forwarded addresses are ignored', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (let attempt = 0; attempt < 10; attempt++) await fail(world, 1, { 'x-forwarded-for': `203.0.113.${attempt}` })
  expect((await world.call('GET', '/v1/apps', { headers: { 'x-forwarded-for': '8.8.8.8' } })).status).toBe(429)
})
