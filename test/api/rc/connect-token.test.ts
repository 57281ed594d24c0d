import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { newLink, open, pressConnect, tokenOf } from '../../support/connect-flow.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { createWorld, recordedLog } from '../../support/world.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

test('at home, where RingCentral would refuse the link, the log says so and what to do instead', async () => {
  for (const [env, refused] of [
    [{ NODE_ENV: 'production', PUBLIC_URL: '' }, 2],
    [{ NODE_ENV: 'test', PUBLIC_URL: '' }, 0],
  ] as const) {
    const { log, lines } = recordedLog()
    await using world = await createWorld({ connect: false, work: false, log, env })
    for (const kind of ['connect', 'invite'] as const)
      expect(Object.keys((await world.json('POST', `/v1/rc/${kind}-token`)).body)).toEqual(['connectUrl'])
    const told = lines.filter((line) => line.includes('RingCentral would refuse this link'))
    expect(told.map((line) => line.includes('connect-jwt'))).toEqual(Array(refused).fill(true))
  }
})

test('connect-token and invite-token answer with a path that contains a token, and nothing else', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const kind of ['connect', 'invite'] as const) {
    const response = await world.call('POST', `/v1/rc/${kind}-token`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      connectUrl: expect.stringMatching(/^\/v1\/rc\/connect\?token=[A-Za-z0-9_-]{43}$/),
    })
  }
})

test('tokens are stored as hashes', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const token = tokenOf(await newLink(world))
  const { rows } = await world.gateway.database.gate.execute('SELECT * FROM connect_tokens')
  expect(JSON.stringify(rows)).not.toContain(token)
})

test('a connect token lasts 5 minutes, an invite token 7 days', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const connect = await newLink(world, 'connect')
  const invite = await newLink(world, 'invite')
  clock.advance(5 * MINUTE_MS - 1)
  expect((await open(world, connect)).status).toBe(200)
  clock.advance(1)
  expect((await open(world, connect)).status).toBe(400)
  expect((await pressConnect(world, tokenOf(connect))).status).toBe(400)
  clock.advance(7 * DAY_MS - 5 * MINUTE_MS - 1)
  expect((await open(world, invite)).status).toBe(200)
  clock.advance(1)
  expect((await open(world, invite)).status).toBe(400)
})

test('INVITE_TOKEN_TTL sets how long an invite token lasts', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock, env: { INVITE_TOKEN_TTL: '1h' } })
  const invite = await newLink(world, 'invite')
  clock.advance(60 * MINUTE_MS - 1)
  expect((await open(world, invite)).status).toBe(200)
  clock.advance(1)
  expect((await open(world, invite)).status).toBe(400)
})

test('both kinds share a limit of 100 per tenant and hour, across apps; Retry-After is exact', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const second = await world.secondApp()
  const other = await world.otherTenant()
  await newLink(world)
  clock.advance(10 * MINUTE_MS)
  const calls = Array.from({ length: 120 }, (_, index) =>
    world.call('POST', index % 2 === 0 ? '/v1/rc/connect-token' : '/v1/rc/invite-token', {
      key: index % 3 === 0 ? world.key : second.apiKey,
    }),
  )
  const responses = await Promise.all(calls)
  expect(responses.filter((response) => response.status === 200)).toHaveLength(99)
  const refused = responses.filter((response) => response.status === 429)
  expect(refused).toHaveLength(21)
  for (const response of refused) {
    expect(response.headers.get('retry-after')).toBe('3000')
    await expectError(response, 429, 'Too many requests')
  }
  expect((await world.call('POST', '/v1/rc/connect-token', { key: other.apiKey })).status).toBe(200)
  clock.advance(50 * MINUTE_MS)
  expect((await world.call('POST', '/v1/rc/invite-token')).status).toBe(200)
  expect((await world.call('POST', '/v1/rc/connect-token')).headers.get('retry-after')).toBe('600')
})

test('the limit of tokens does not affect other endpoints', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await Promise.all(Array.from({ length: 101 }, () => world.call('POST', '/v1/rc/connect-token')))
  expect((await world.call('POST', '/v1/rc/connect-token')).status).toBe(429)
  expect((await world.call('GET', '/v1/rc/status')).status).toBe(200)
})
