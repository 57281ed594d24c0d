import { expect, test } from 'bun:test'
import type { EventSocket } from '../../../src/provider/event-socket.ts'
import type { ProviderResult } from '../../../src/provider/provider.ts'
import { silentLog } from '../../../src/core/log.ts'
import { runGateway } from '../../../src/server/run.ts'
import { until } from '../../support/world.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// What a socket does not bring, brings twice or too late. The back-fill is the truth: each text is stored, and once.

/** All of them, each once. */
async function allArrive(it: SocketCase, words: readonly string[], withinMs: number): Promise<void> {
  await it.pass(withinMs, async () => (await it.bodies()).length >= words.length)
  await it.run(31 * SECOND)
  expect(await it.bodies()).toEqual([...words].toSorted())
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${1000 + index}`)

test('of more texts than RingCentral keeps for a closed socket, none is lost', async () => {
  await using it = await SocketCase.open()
  await it.run(31 * SECOND)
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  const words = numbered(130)
  for (const word of words) await it.text(word)
  await it.reopened(2 * SECOND)
  await allArrive(it, words, MINUTE)
}, 30_000)

test('texts of a time without a socket that lasts longer than a recovery are all filled in', async () => {
  await using it = await SocketCase.open()
  await it.run(31 * SECOND)
  it.control.faultSockets({ kind: 'refuse', calls: null })
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  await it.text('early')
  await it.run(4 * MINUTE)
  await it.text('late')
  it.control.reset()
  await it.reopened(121 * SECOND)
  await allArrive(it, ['early', 'late'], MINUTE)
  expect(it.lines.filter((line) => line.includes('event socket is open')).at(-1)).toContain('"recovered":false')
}, 30_000)

test('a text whose event is dropped is filled in, and its socket is replaced without a gap', async () => {
  await using it = await SocketCase.open()
  await it.run(10 * MINUTE)
  it.control.faultEvents({ kind: 'drop' })
  await it.text('dropped')
  await it.pass(15 * MINUTE + SECOND, async () => (await it.bodies()).includes('dropped'))
  const before = it.control.sockets()[0]?.sessionId
  await it.pass(5 * SECOND, () => it.lines.some((line) => line.includes('"why":"overlooked"')))
  await it.pass(5 * SECOND, () => it.lines.filter((line) => line.includes('event socket is open')).length === 2)
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active' })
  await until(() => it.sockets() === 1)
  expect(before).toBeDefined()
  await it.text('next')
  await it.arrives('next')

  // There may be texts of which no event ever comes: that must not replace the socket each quarter of an hour.
  for (let turn = 0; turn < 3; turn++) {
    await it.run(12 * MINUTE)
    it.control.faultEvents({ kind: 'drop' })
    await it.text(`dropped again ${turn}`)
    await it.pass(15 * MINUTE + SECOND, async () => (await it.bodies()).includes(`dropped again ${turn}`))
  }
  expect(it.lines.filter((line) => line.includes('"why":"overlooked"')).length).toBeLessThanOrEqual(2)
}, 60_000)

test('an event that comes twice, and one that comes late, are stored once', async () => {
  await using it = await SocketCase.open()
  it.control.faultEvents({ kind: 'duplicate', copies: 3 })
  await it.text('doubled')
  await it.arrives('doubled')
  it.control.faultEvents({ kind: 'delay', ms: 20 * MINUTE })
  await it.text('delayed')
  await allArrive(it, ['doubled', 'delayed'], 16 * MINUTE)
  await it.run(21 * MINUTE)
  expect(await it.bodies()).toEqual(['delayed', 'doubled'])
}, 30_000)

test('an event that comes before its subscription is answered is stored', async () => {
  await using it = await SocketCase.open()
  it.control.faultSockets({ kind: 'forget' })
  it.control.faultSockets({ kind: 'early-event' })
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  await it.run(SECOND)
  await until(() => it.sockets() === 1)
  await it.text('early')
  await it.arrives('early')
  await it.reopened(MINUTE)
  expect(await it.bodies()).toEqual(['early'])
}, 30_000)

test('a session that ends behind an open socket is noticed within ten minutes', async () => {
  await using it = await SocketCase.open()
  // What is read soon after a start, such as consents, would notice it sooner.
  await it.run(3 * MINUTE)
  const extensionId = it.control.extensions()[0]?.extensionId ?? ''
  it.control.revokeTokens({ extensionId })
  await it.text('unheard')
  expect(it.sockets()).toBe(1)
  await it.pass(10 * MINUTE + SECOND, async () => (await it.shown()).reason === 'Its authorization has ended')
  expect(await it.shown()).toMatchObject({ status: [0, 0], health: 'none' })
  expect(it.lines.join()).toContain('"reason":"no subscription"')
  expect((await it.world.connect()).ok).toBe(true)
  await it.arrives('unheard')
  await it.reopened(MINUTE + SECOND)
  await it.text('heard')
  await it.arrives('heard')
  await it.run(SECOND)
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active', reason: null })
}, 30_000)

test('an extension that is authorized again gets a socket of its new session at once', async () => {
  await using it = await SocketCase.open()
  await it.run(MINUTE)
  // Also where RingCentral does not say over the old one that its session has ended.
  it.fault('subscription-get', { kind: 'respond', status: 503 }, null)
  await it.world.connect()
  await it.pass(5 * SECOND, () => it.lines.filter((line) => line.includes('event socket is open')).length === 2)
  await until(() => it.sockets() === 1)
  await it.text('to the new one')
  await it.arrives('to the new one')
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active' })
}, 30_000)

test('a text that cannot be stored, because the disk is full, is there once the disk has room', async () => {
  await using it = await SocketCase.open()
  await it.run(31 * SECOND)
  const { gate } = it.world.gateway.database
  const pages = (await gate.execute('PRAGMA max_page_count')).rows[0]?.['max_page_count']
  await gate.execute('PRAGMA max_page_count = 1')
  const words = numbered(40).map((word) => `${word} ${'x'.repeat(900)}`)
  for (const word of words) await it.text(word)
  await until(() => it.lines.some((line) => line.includes('an event could not be stored')))
  await it.run(3 * SECOND)
  await gate.execute(`PRAGMA max_page_count = ${Number(pages)}`)
  await allArrive(it, words, 3 * MINUTE)
  await it.reopened(121 * SECOND)
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active' })
}, 30_000)

test('a session that changes while the provider is asked for the subscription gets a socket of its own at once', async () => {
  await using it = await SocketCase.open({ connect: false })
  const { provider, subscriptions } = it.world.gateway
  const asked = Promise.withResolvers<undefined>()
  const answered = Promise.withResolvers<undefined>()
  const open = provider.openEventSocket
  provider.openEventSocket = async (token, request): Promise<ProviderResult<EventSocket>> => {
    const opened = await open(token, request)
    if (!opened.ok) return opened
    const isSubscribed = async (): Promise<boolean> => {
      asked.resolve(undefined)
      await answered.promise
      return true
    }
    return { ok: true, value: { ...opened.value, isSubscribed } }
  }
  await it.world.connect()
  await until(() => it.sockets() === 1)
  await it.run(MINUTE)
  const key = { tenantId: it.world.tenantId, extensionId: it.control.extensions()[0]?.extensionId ?? '' }
  const checking = subscriptions.ensure(key)
  await asked.promise
  subscriptions.sessionChanged(key)
  answered.resolve(undefined)
  expect(await checking).toBe('created')
}, 30_000)

test('a socket that ends while tokens cannot be stored is opened soon after they can', async () => {
  await using it = await SocketCase.open()
  await it.run(56 * MINUTE)
  const { gate } = it.world.gateway.database
  await gate.execute(
    `CREATE TRIGGER full_disk BEFORE UPDATE OF access_token ON extensions BEGIN SELECT RAISE(ABORT, 'full'); END`,
  )
  await it.run(5 * MINUTE)
  it.control.faultSockets({ kind: 'cut' })
  await it.run(5 * SECOND)
  expect(it.sockets()).toBe(0)
  await gate.execute('DROP TRIGGER full_disk')
  expect(await it.reopened(10 * MINUTE)).toBeLessThanOrEqual(2 * MINUTE)
}, 30_000)

test('a gap that cannot be filled at once is filled as soon as it can be', async () => {
  await using it = await SocketCase.open()
  await it.run(31 * SECOND)
  it.control.faultSockets({ kind: 'forget' })
  it.fault('message-store', { kind: 'respond', status: 503 }, 3)
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  await it.text('in the gap')
  await it.reopened(2 * SECOND)
  await allArrive(it, ['in the gap'], 2 * MINUTE)
}, 30_000)

test('texts that come during a stop are stored before it ends, or by the next start', async () => {
  await using it = await SocketCase.open()
  const words = numbered(200)
  const texting = Promise.all(words.map((word) => it.text(word)))
  await until(async () => (await it.bodies()).length > 10)
  await it.world.running.stop()
  await until(() => it.sockets() === 0)
  await texting
  const { config, clock } = it.world.gateway
  const next = await runGateway({ config, log: silentLog, clock })
  try {
    next.work()
    const count = async (): Promise<unknown> =>
      (
        await next.gateway.database.gate.execute(
          'SELECT count(*) AS all_rows, count(DISTINCT body) AS bodies FROM messages',
        )
      ).rows[0]
    await it.pass(2 * MINUTE, async () => Bun.deepEquals(await count(), { all_rows: 200, bodies: 200 }))
  } finally {
    await next.stop()
  }
}, 30_000)

test('two tenants that share an extension each get every text, once', async () => {
  await using it = await SocketCase.open()
  const other = await it.world.otherTenant()
  // Each login and each ticket counts among five calls a minute.
  await it.run(MINUTE)
  const extensionId = it.control.extensions()[0]?.extensionId ?? ''
  expect((await it.world.connect({ tenantId: other.tenantId, extensionId })).ok).toBe(true)
  await until(() => it.sockets() === 2)
  await it.text('to both')
  const both = async (): Promise<unknown[]> => {
    const sql = 'SELECT tenant_id, count(*) AS count FROM messages GROUP BY tenant_id'
    return (await it.world.gateway.database.gate.execute(sql)).rows.map((row) => row['count'])
  }
  await until(async () => (await both()).length === 2)
  await it.run(31 * SECOND)
  it.control.faultSockets({ kind: 'cut' })
  await it.text('to both again')
  await it.pass(2 * MINUTE, async () => (await both()).join() === '2,2')
  await it.pass(2 * MINUTE, () => it.sockets() === 2)
  // They share the user, and so its five tickets a minute.
  it.control.setLimits({ enabled: true })
  await it.run(MINUTE)
  for (let cut = 0; cut < 4; cut++) {
    it.control.faultSockets({ kind: 'cut' })
    await until(() => it.sockets() === 0)
    await it.pass(3 * MINUTE, () => it.sockets() === 2)
  }
  expect(it.control.requests({ route: 'wstoken' }).filter(({ status }) => status === 429)).toEqual([])
  // One that leaves ends its own socket alone.
  const left = await it.world.call('DELETE', `/v1/rc/extensions/${extensionId}`, { key: other.apiKey })
  expect(left.status).toBe(200)
  expect(it.sockets()).toBe(1)
  await it.text('to one')
  await it.arrives('to one')
}, 30_000)
