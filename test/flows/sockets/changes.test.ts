import { expect, test } from 'bun:test'
import type { Config } from '../../../src/core/config.ts'
import { silentLog } from '../../../src/core/log.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { type RunningGateway, runGateway } from '../../../src/server/run.ts'
import { createWorld, until } from '../../support/world.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// From webhook to socket and back, and what an earlier process leaves behind.

/** The next process on the same database. */
async function next(it: SocketCase, events: Config['provider']['events']): Promise<RunningGateway & AsyncDisposable> {
  const { config, clock } = it.world.gateway
  const running = await runGateway({
    config: { ...config, provider: { ...config.provider, events } },
    log: silentLog,
    clock,
  })
  running.work()
  return Object.assign(running, { [Symbol.asyncDispose]: () => running.stop() })
}

const transports = (it: SocketCase): string[] => it.control.subscriptions().map(({ transport }) => transport)

const rows = async ({ gateway }: RunningGateway): Promise<unknown[]> =>
  (await gateway.database.gate.execute('SELECT status FROM subscriptions')).rows.map((row) => row['status'])

test('after a change to sockets the webhook is deleted at RingCentral, once the socket is open, and after a change back the socket is gone', async () => {
  await using it = await SocketCase.open({ env: { RC_EVENTS: 'webhook' } })
  await until(() => transports(it).join() === 'WebHook')
  await it.world.running.stop()
  it.fault('subscription-delete', { kind: 'respond', status: 503 })
  it.control.faultSockets({ kind: 'refuse', calls: null })
  {
    await using running = await next(it, 'websocket')
    await it.pass(MINUTE, () => it.control.requests({ route: 'socket' }).length > 0)
    // A webhook whose socket is not open yet may still bring something, but nobody relies on it.
    expect(transports(it)).toEqual(['WebHook'])
    await until(async () => (await rows(running)).join() === 'pending,pending')
    it.control.reset()
    await it.pass(3 * MINUTE, () => it.sockets() === 1)
    await it.text('over the socket')
    const count = 'SELECT count(*) AS count FROM messages'
    await until(async () => (await running.gateway.database.gate.execute(count)).rows[0]?.['count'] === 1)
    // The first try to delete it has failed.
    await it.pass(11 * MINUTE, () => transports(it).join() === 'WebSocket')
    await until(async () => (await rows(running)).join() === 'active')
  }
  await using running = await next(it, 'webhook')
  await it.pass(4 * MINUTE, () => transports(it).join() === 'WebHook')
  expect(it.sockets()).toBe(0)
  expect(await rows(running)).toEqual(['active'])
}, 30_000)

test.each(['websocket', 'webhook'] as const)(
  'after a crash no socket counts as open, even if RingCentral cannot be reached (then by %s)',
  async (events) => {
    await using it = await SocketCase.open()
    await it.world.running.stop()
    it.fault('*', { kind: 'reset' }, null)
    await using running = await next(it, events)
    expect((await readStatus(running.gateway)).subscriptions).toMatchObject({ active: 0, pending: 1 })
  },
  30_000,
)

test('a gateway that disconnects its extension ends the socket, and opens none again', async () => {
  await using it = await SocketCase.open()
  expect((await it.world.call('POST', '/v1/rc/disconnect')).status).toBe(200)
  await until(() => it.sockets() === 0)
  await it.run(3 * MINUTE)
  expect(it.sockets()).toBe(0)
  expect(await rows(it.world.running)).toEqual([])
}, 30_000)

test('the built-in simulator brings texts over a socket as well', async () => {
  await using world = await createWorld({ env: { RC_EVENTS: 'websocket' } })
  await until(() => world.control.sockets().length === 1)
  await world.control.injectSms({ from: '+15555550177', text: 'built in' })
  const bodies = async (): Promise<number> =>
    (await world.gateway.database.gate.execute(`SELECT 1 FROM messages WHERE body = 'built in'`)).rows.length
  await until(async () => (await bodies()) === 1)
  expect(world.control.subscriptions().map(({ transport }) => transport)).toEqual(['WebSocket'])
})

test('only the holder of the lease opens a socket', async () => {
  const granted = Promise.withResolvers<void>()
  let isHeld = true
  const lease = {
    epoch: 1,
    holder: 'here:3000',
    granted: () => (isHeld ? undefined : granted.promise),
    ageMs: () => 0,
    standbys: null,
    testStorage: () => Promise.resolve('tested'),
    clockDifference: () => null,
    give: () => undefined,
  }
  await using it = await SocketCase.open({ lease })
  isHeld = false
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  it.one.clock.advance(5 * SECOND)
  await Bun.sleep(50)
  expect(it.sockets()).toBe(0)
  expect(it.control.requests({ route: 'wstoken' })).toHaveLength(1)
  isHeld = true
  granted.resolve()
  await it.reopened(5 * SECOND)
}, 30_000)
