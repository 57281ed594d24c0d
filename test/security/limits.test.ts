import { expect, test } from 'bun:test'
import { FailedAttempts } from '../../src/auth/failed-attempts.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLog } from '../../src/core/log.ts'
import { MAX_UNAUTHENTICATED_SOCKETS } from '../../src/core/limits.ts'
import { Peers } from '../../src/api/http/request-context.ts'
import { manualClock } from '../support/manual-clock.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { openSocket } from '../support/socket.ts'
import { type World, createWorld, until } from '../support/world.ts'
import { Random } from './malformed-requests.ts'

const WINDOW_MS = 60_000
const QUIET = { connect: false, work: false } as const

test('of 50 requests at the edge of the window, exactly the free number passes, and Retry-After is exact to the second', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...QUIET, clock, env: { KEY_LIMIT_PER_MINUTE: '100' } })
  const random = new Random(7)
  let passed: number[] = []
  for (let round = 0; round < 40; round++) {
    const now = clock.monotonic()
    passed = passed.filter((at) => at + WINDOW_MS > now)
    const room = 100 - passed.length
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.call('GET', '/v1/apps')))
    const refused = answers.filter((answer) => answer.status === 429)
    expect(answers.length - refused.length).toBe(Math.min(50, room))
    for (let n = 0; n < Math.min(50, room); n++) passed.push(now)
    const waitSeconds = String(Math.max(1, Math.ceil(((passed[0] ?? 0) + WINDOW_MS - now) / 1000)))
    for (const answer of refused) expect(answer.headers.get('retry-after')).toBe(waitSeconds)
    clock.advance(random.pick([0, 1, 250, 999, 1000, 5000, 20_000, 59_999, 60_000]))
  }
})

test('a request passes after exactly the seconds of Retry-After', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...QUIET, clock, env: { KEY_LIMIT_PER_MINUTE: '3' } })
  for (const pauseMs of [400, 700, 300]) {
    expect((await world.call('GET', '/v1/apps')).status).toBe(200)
    clock.advance(pauseMs)
  }
  const refused = await world.call('GET', '/v1/apps')
  expect(refused.headers.get('retry-after')).toBe('59')
  clock.advance(58_599)
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
  clock.advance(1)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

async function fail(world: World, over: 'http' | 'key' | 'token'): Promise<void> {
  if (over === 'http') return void (await world.call('GET', '/v1/apps', { key: 'sgw_guess' }))
  await using socket = await openSocket(world.url)
  socket.send({ type: 'auth', ...(over === 'key' ? { apiKey: 'sgw_guess' } : { token: 'wst_guess' }) })
  await socket.closed
}

test('failures over HTTP and WebSocket count together: the tenth blocks both for 15 minutes, also across a restart', async () => {
  const clock = manualClock()
  const first = await createWorld({ ...QUIET, clock })
  for (let n = 0; n < 9; n++) await fail(first, (['http', 'key', 'token'] as const)[n % 3] ?? 'http')
  expect((await first.call('GET', '/v1/apps')).status).toBe(200)
  await fail(first, 'token')
  expect((await first.call('GET', '/v1/apps')).headers.get('retry-after')).toBe('900')
  expect((await first.call('GET', '/ws')).status).toBe(429)
  await first.running.stop()
  clock.advance(14 * 60_000)
  await using second = await createWorld({ ...QUIET, clock, folder: first.folder })
  const blocked = await second.call('GET', '/v1/apps')
  expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '60'])
  clock.advance(60_000)
  expect((await second.call('GET', '/v1/apps')).status).toBe(200)
  await second.gateway.failedAttempts.purge()
  expect((await second.gateway.database.gate.execute('SELECT 1 FROM blocked_addresses')).rows).toEqual([])
})

test('of 50 simultaneous wrong keys ten are answered with 401 and the others with 429', async () => {
  await using world = await createWorld(QUIET)
  const find = world.gateway.keys.find.bind(world.gateway.keys)
  let waiting = 0
  world.gateway.keys.find = async (key) => {
    waiting++
    await until(() => waiting === 50)
    return find(key)
  }
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => world.call('GET', '/v1/apps', { key: `sgw_guess${n}` })),
  )
  expect(answers.filter((answer) => answer.status === 401).length).toBe(10)
  expect(answers.filter((answer) => answer.status === 429).length).toBe(40)
})

test('none of 1,000 forged forwarded addresses evades a block, with and without a trusted proxy', async () => {
  await using world = await createWorld(QUIET)
  for (let n = 0; n < 10; n++) await fail(world, 'http')
  const random = new Random(11)
  const forge = (): string =>
    Array.from({ length: 1 + random.below(4) }, () =>
      random.pick([
        `${random.below(256)}.${random.below(256)}.1.1`,
        '::1',
        '127.0.0.1',
        'unknown',
        '2001:db8::1',
        '10.0.0.1',
        '',
        '1.2.3.4:80',
      ]),
    ).join(', ')
  const names = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']
  const statuses = new Set<number>()
  for (let n = 0; n < 1000; n++)
    statuses.add(
      (
        await world.call('GET', '/v1/apps', {
          headers: { [random.chance(0.6) ? 'x-forwarded-for' : random.pick(names)]: forge() },
        })
      ).status,
    )
  expect([...statuses]).toEqual([429])
  const peers = new Peers(['10.0.0.0/8', '2001:db8:1::/48'])
  for (let n = 0; n < 1000; n++) {
    // The client's own values are to the left of those that the proxies added.
    const headers = { 'x-forwarded-for': `${forge()}, 198.51.100.9, 10.1.2.3` }
    expect(peers.addressOf('10.9.9.9', new Request('http://localhost/', { headers }))).toBe('198.51.100.9')
    expect(peers.addressOf('203.0.113.5', new Request('http://localhost/', { headers }))).toBe('203.0.113.5')
  }
})

test('forwarded addresses with a port are read', () => {
  const peers = new Peers(['10.0.0.0/8'])
  const counted = (forwarded: string): string =>
    peers.addressOf('10.0.0.1', new Request('http://localhost/', { headers: { 'x-forwarded-for': forwarded } }))
  expect(
    ['198.51.100.9:4711', '198.51.100.9', '[2606:4700:1:2::9]:4711', '[2606:4700:1:2::9]', '2606:4700:1:2::9'].map(
      counted,
    ),
  ).toEqual(['198.51.100.9', '198.51.100.9', '2606:4700:1:2::/64', '2606:4700:1:2::/64', '2606:4700:1:2::/64'])
})

test('a million addresses that fail fit into 32 MB', () => {
  const heapMib = (): number => {
    Bun.gc(true)
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const before = heapMib()
  const attempts = new FailedAttempts({ orm: {} as never, clock: systemClock, log: silentLog })
  for (let n = 0; n < 1_000_000; n++)
    attempts.note(`2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::/64`)
  const grown = heapMib() - before
  console.log(`a million failing addresses: ${grown.toFixed(1)} MiB of heap`)
  expect(grown).toBeLessThan(32)
  expect(attempts.blockedSeconds('2001:db8:0:0::/64')).toBe(0)
})

test('of 2,000 silent sockets half are closed at once and half after 5 s, even if their clients never answer', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...QUIET, clock, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const sockets = await Promise.all(
    Array.from({ length: 2000 }, (_, n) => openSocket(world.url, { 'x-forwarded-for': `198.51.${n >> 8}.${n & 255}` })),
  )
  await until(() => sockets.filter(({ isOpen }) => isOpen).length === MAX_UNAUTHENTICATED_SOCKETS)
  expect((await world.call('GET', '/health')).status).toBe(200)
  clock.advance(4999)
  expect(world.gateway.sockets.count).toBe(MAX_UNAUTHENTICATED_SOCKETS)
  clock.advance(1)
  const codes = await Promise.all(sockets.map(async (socket) => (await socket.closed).code))
  expect(codes.filter((code) => code === 1008)).toHaveLength(MAX_UNAUTHENTICATED_SOCKETS)
  using stubborn = await openRawSocket(world.url)
  stubborn.socket.pause()
  clock.advance(5000)
  await until(() => world.gateway.sockets.count === 0)
  expect((await openSocket(world.url)).isOpen).toBe(true)
})
