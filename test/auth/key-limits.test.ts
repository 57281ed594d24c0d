import { expect, test } from 'bun:test'
import { KeyLimits } from '../../src/auth/key-limits.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type World, createWorld } from '../support/world.ts'

const limited = (clock = manualClock()): Promise<World> =>
  createWorld({ connect: false, work: false, clock, env: { KEY_LIMIT_PER_MINUTE: '100' } })

async function use(world: World, times: number, key = world.key): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: times }, () => world.call('GET', '/v1/rc/status', { key })))
  return responses.map((response) => response.status)
}

test('at most 100 requests are answered in any 60 seconds, and Retry-After of the 101st is exact', async () => {
  const clock = manualClock()
  await using world = await limited(clock)
  await use(world, 1)
  clock.advance(20_500)
  expect(await use(world, 99)).toEqual(Array<number>(99).fill(200))
  const refused = await world.call('GET', '/v1/rc/status')
  expect(refused.headers.get('retry-after')).toBe('40')
  await expectError(refused, 429, 'Too many requests')
  clock.advance(39_499)
  expect((await world.call('GET', '/v1/rc/status')).headers.get('retry-after')).toBe('1')
  clock.advance(1)
  expect((await world.call('GET', '/v1/rc/status')).status).toBe(200)
  expect((await world.call('GET', '/v1/rc/status')).headers.get('retry-after')).toBe('21')
})

test('a burst of 300 requests gets exactly 100 answers', async () => {
  await using world = await limited()
  const statuses = await use(world, 300)
  expect(statuses.filter((status) => status === 200)).toHaveLength(100)
  expect(statuses.filter((status) => status === 429)).toHaveLength(200)
})

test('refused requests do not count, so a caller that keeps requesting gets its 100 per minute', async () => {
  const clock = manualClock()
  await using world = await limited(clock)
  await use(world, 100)
  clock.advance(59_999)
  await use(world, 50)
  clock.advance(1)
  expect((await use(world, 100)).every((status) => status === 200)).toBe(true)
})

test('authenticated requests that fail count, also for unknown paths', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '3' } })
  await world.call('GET', '/v1/nothing')
  await world.call('POST', '/v1/sms/send', { body: '{' })
  await world.call('POST', '/v1/sms/send', { body: 'x'.repeat(102_401) })
  expect(await use(world, 1)).toEqual([429])
})

test('each app has a limit of its own, and a rotated key inherits it', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '2' } })
  const second = await world.secondApp()
  const { body } = await world.json<{ apiKey: string }>('POST', `/v1/apps/${world.app.appId}/rotate-key`)
  expect(await use(world, 1, body.apiKey)).toEqual([200])
  expect(await use(world, 1, body.apiKey)).toEqual([429])
  expect(await use(world, 1, second.apiKey)).toEqual([200])
})

test('every authenticated answer shows the state of the limit', async () => {
  const clock = manualClock()
  await using world = await limited(clock)
  const standing = async (path = '/v1/rc/status'): Promise<(string | null)[]> => {
    const { headers } = await world.call('GET', path)
    return [headers.get('ratelimit-policy'), headers.get('ratelimit')]
  }
  expect(await standing()).toEqual(['"key";q=100;w=60', '"key";r=99;t=60'])
  clock.advance(17_200)
  expect(await standing()).toEqual(['"key";q=100;w=60', '"key";r=98;t=43'])
  expect(await standing('/v1/sms/status/x')).toEqual(['"key";q=100;w=60', '"key";r=97;t=43'])
  await use(world, 97)
  expect(await standing()).toEqual(['"key";q=100;w=60', '"key";r=0;t=43'])
  const stranger = await world.call('GET', '/v1/rc/status', { key: 'sgw_nobody' })
  expect(stranger.headers.get('ratelimit')).toBeNull()
})

test('no wait is longer than the window, at any fraction of a millisecond', () => {
  // For these values, floating-point rounding makes (at + 60,000) - at slightly larger than 60,000.
  for (const at of [8350464.140952489, 4188569.797467112, 80062.09177643053]) {
    const clock = { ...manualClock(), monotonic: () => at }
    const limits = new KeyLimits(clock, 1)
    expect(limits.take('app')).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 60 })
    expect(limits.take('app')).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
  }
})
