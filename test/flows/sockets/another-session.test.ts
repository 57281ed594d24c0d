import { expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { connectJwt } from '../../../src/operator/connect-jwt.ts'
import { runGateway } from '../../../src/server/run.ts'
import { until } from '../../support/world.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// A working extension is authorized again: its texts keep arriving, whatever the provider lets the gateway open, and the replaced session ends.

const extensionIdOf = (it: SocketCase): string => it.control.extensions()[0]?.extensionId ?? ''
const sessionsOf = (it: SocketCase): number => it.control.sessions({ extensionId: extensionIdOf(it) }).length

async function byJwt(it: SocketCase): Promise<void> {
  const { jwt } = it.control.addJwt({ extensionId: extensionIdOf(it) })
  const connected = await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
  expect(connected).toMatchObject({ receiving: true, fixes: [] })
}

async function byLink(it: SocketCase): Promise<void> {
  expect((await it.world.connect()).ok).toBe(true)
}

const WAYS = { link: byLink, jwt: byJwt }
type Way = keyof typeof WAYS

const CHANGES: [Way, Way][] = [
  ['link', 'jwt'],
  ['jwt', 'link'],
  ['jwt', 'jwt'],
  ['link', 'link'],
]

/** Until the last of the logins so far counts no more. */
const LOGINS_FREE_MS = MINUTE + SECOND

const WORKS = { status: [1, 0], health: 'active', reason: null }

test.each(CHANGES)(
  'an extension that was connected by %s and is again by %s goes on receiving while its next socket waits',
  async (before, after) => {
    await using it = await SocketCase.open({ connect: false })
    it.control.setLimits({ enabled: true })
    await WAYS[before](it)
    await until(async () => (await it.shown()).health === 'active')
    it.one.clock.advance(SECOND)
    await WAYS[before](it)
    it.one.clock.advance(SECOND)
    await WAYS[after](it)
    // Its logins of this minute are used up.
    expect(it.control.requests({ route: 'wstoken' }).length).toBeLessThan(3)
    await it.text('meanwhile')
    await it.arrives('meanwhile')
    expect(await it.shown()).toMatchObject(WORKS)
    expect(await it.doctor()).toBe('ok: every active extension has one')
    await it.pass(LOGINS_FREE_MS, () => sessionsOf(it) === 1)
    await it.text('later')
    await it.arrives('later')
    expect(it.lines.filter((line) => line.includes('event socket has closed'))).toEqual([])
    expect(await it.shown()).toMatchObject(WORKS)
    expect(it.sockets()).toBe(1)
    expect(it.control.requests({ route: 'wstoken' }).filter(({ status }) => status === 429)).toEqual([])
  },
  30_000,
)

test('a text that comes at any moment of another authorization is there within the same second', async () => {
  await using it = await SocketCase.open()
  await it.run(MINUTE)
  const { provider } = it.world.gateway
  const { openEventSocket, revoke } = provider
  let texts = 0
  let arrived = 0
  const text = async (): Promise<void> => {
    const words = `text ${++texts}`
    await it.text(words)
    await it.arrives(words)
    arrived++
  }
  provider.openEventSocket = async (...request) => {
    await text()
    const opened = await openEventSocket(...request)
    await text()
    return opened
  }
  provider.revoke = async (token) => {
    await text()
    const revoked = await revoke(token)
    await text()
    return revoked
  }
  await byJwt(it)
  await until(() => arrived === 4 && sessionsOf(it) === 1)
  await text()
  expect(await it.bodies()).toEqual(['text 1', 'text 2', 'text 3', 'text 4', 'text 5'])
}, 30_000)

test('an extension whose session had ended and whose next socket waits is shown as not receiving, and its texts come within the minute', async () => {
  await using it = await SocketCase.open()
  await it.run(MINUTE)
  await byJwt(it)
  it.one.clock.advance(SECOND)
  it.control.revokeTokens({ extensionId: extensionIdOf(it) })
  const { jwt } = it.control.addJwt({ extensionId: extensionIdOf(it) })
  const again = await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
  expect(again).toMatchObject({ receiving: false })
  await it.text('unheard')
  expect(await it.shown()).toMatchObject({
    status: [0, 1],
    health: 'pending',
    reason: 'Its events have not begun yet, so its messages arrive up to a minute late',
  })
  expect(await it.doctor()).toMatch(
    /^warn: Extension \d+ of \S+ does not receive events\. Its events have not begun yet, /,
  )
  await it.pass(LOGINS_FREE_MS, async () => (await it.bodies()).includes('unheard'))
  await it.reopened(LOGINS_FREE_MS)
  await it.text('heard')
  await it.arrives('heard')
  expect(await it.bodies()).toEqual(['heard', 'unheard'])
}, 30_000)

test('a session that was replaced is ended after a pause of logins, which the call would prolong', async () => {
  await using it = await SocketCase.open()
  await it.run(MINUTE)
  it.control.revokeTokens({ extensionId: extensionIdOf(it) })
  it.fault('wstoken', { kind: 'respond', status: 429, headers: { 'Retry-After': '60' } })
  const { jwt } = it.control.addJwt({ extensionId: extensionIdOf(it) })
  const again = await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
  expect(again).toMatchObject({ receiving: false })
  const ended = (): number => it.control.requests({ route: 'revoke' }).length
  await it.run(MINUTE - SECOND)
  expect(ended()).toBe(0)
  await it.reopened(LOGINS_FREE_MS)
  await it.pass(LOGINS_FREE_MS, () => ended() === 1)
  await it.text('heard')
  await it.arrives('heard')
}, 30_000)

test('a gateway that ends between two sessions loses nothing, and leaves the one that was replaced to end by itself', async () => {
  await using it = await SocketCase.open()
  await it.run(MINUTE)
  it.control.fault({ route: 'revoke', calls: null, fault: { kind: 'reset' } })
  it.control.faultSockets({ kind: 'refuse', calls: null })
  const { jwt } = it.control.addJwt({ extensionId: extensionIdOf(it) })
  await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
  await it.world.running.stop()
  it.control.reset()
  await it.text('while nobody runs')
  const { config, clock } = it.world.gateway
  const next = await runGateway({ config, log: silentLog, clock })
  try {
    next.work()
    const bodies = async (): Promise<unknown[]> =>
      (await next.gateway.database.gate.execute('SELECT body FROM messages ORDER BY seq')).rows.map(
        (row) => row['body'],
      )
    await it.pass(LOGINS_FREE_MS, async () => (await bodies()).join() === 'while nobody runs')
    await it.pass(LOGINS_FREE_MS, () => it.sockets() === 1)
    await it.text('heard')
    await until(async () => (await bodies()).join() === 'while nobody runs,heard')
    // The provider ends it when its tokens expire, or when a user has more than five.
    expect(sessionsOf(it)).toBe(2)
  } finally {
    await next.stop()
  }
}, 30_000)

test('a session that was replaced ends with the gateway, and when its extension is disconnected', async () => {
  for (const end of ['stop', 'disconnect'] as const) {
    await using it = await SocketCase.open()
    await it.run(MINUTE)
    it.control.faultSockets({ kind: 'refuse', calls: null })
    const { jwt } = it.control.addJwt({ extensionId: extensionIdOf(it) })
    await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
    expect(sessionsOf(it)).toBe(2)
    if (end === 'stop') await it.world.running.stop()
    else expect((await it.world.call('POST', '/v1/rc/disconnect')).status).toBe(200)
    expect(sessionsOf(it)).toBe(end === 'stop' ? 1 : 0)
  }
}, 30_000)

test('by webhook another authorization ends no subscription, and the session that was replaced at once', async () => {
  await using it = await SocketCase.open({ env: { RC_EVENTS: 'webhook' } })
  await until(() => it.control.subscriptions().length === 1)
  const [before] = it.control.subscriptions()
  await byJwt(it)
  expect(sessionsOf(it)).toBe(1)
  await it.text('by the same webhook')
  await it.arrives('by the same webhook')
  expect(it.control.subscriptions()).toMatchObject([{ subscriptionId: before?.subscriptionId }])
}, 30_000)
