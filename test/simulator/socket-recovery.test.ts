import { expect, test } from 'bun:test'
import { until } from '../support/world.ts'
import { ALICE, startHarness, type SimulatorHarness } from './harness.ts'
import { openSocket, type SocketClient, ticketOf } from './socket-client.ts'

/** A socket that has subscribed, and the token of its session. */
async function subscribed(harness: SimulatorHarness): Promise<{ socket: SocketClient; token: string; login: string }> {
  const { access_token } = await harness.login()
  const socket = await openSocket(harness, access_token)
  const [{ wsc }] = await socket.found('ConnectionDetails')
  await socket.subscribe()
  return { socket, token: wsc.token, login: access_token }
}

async function cut(harness: SimulatorHarness): Promise<void> {
  harness.control.faultSockets({ kind: 'cut' })
  await until(() => harness.control.sockets().length === 0)
}

const inject = async (harness: SimulatorHarness, text: string) =>
  (await harness.control.injectSms({ to: ALICE, text })).deliveries.map(({ outcome }) => outcome)

test('a session is recovered within 180 seconds, with its subscription and the events of that time', async () => {
  await using harness = await startHarness()
  const { socket, token, login } = await subscribed(harness)
  using _ = socket
  const [{ subscriptionId } = { subscriptionId: '' }] = harness.control.subscriptions()
  await cut(harness)
  expect(await inject(harness, 'missed')).toEqual(['delayed'])
  harness.clock.advance(179_999)
  using again = await openSocket(harness, login, token)
  const [{ wsc }, details] = await again.found('ConnectionDetails')
  expect([wsc, details.recoveryState]).toEqual([{ token, sequence: 2 }, 'Successful'])
  expect(await inject(harness, 'and one more')).toEqual(['delivered'])
  await until(() => again.events.length === 2)
  expect(again.events).toEqual(['missed', 'and one more'])
  expect(again.frames[0]?.[0].type).toBe('ConnectionDetails')
  expect(harness.control.subscriptions()[0]?.subscriptionId).toBe(subscriptionId)
})

test('after 180 seconds the recovery fails: the socket is a new one, and the subscription is gone', async () => {
  await using harness = await startHarness()
  const { socket, token, login } = await subscribed(harness)
  using _ = socket
  await cut(harness)
  await inject(harness, 'lost')
  harness.clock.advance(180_000)
  expect(harness.control.subscriptions()).toEqual([])
  using again = await openSocket(harness, login, token)
  const [{ wsc }, details] = await again.found('ConnectionDetails')
  expect(details.recoveryState).toBe('Failed')
  expect([wsc.token === token, wsc.sequence]).toEqual([false, 1])
  expect(await inject(harness, 'lost, too')).toEqual([])
  await again.subscribe()
  expect(await inject(harness, 'here')).toEqual(['delivered'])
  await until(() => again.events.length === 1)
  expect(again.events).toEqual(['here'])
})

test('of 101 missed events the oldest is lost', async () => {
  await using harness = await startHarness()
  const { socket, token, login } = await subscribed(harness)
  using _ = socket
  await cut(harness)
  for (let text = 0; text <= 100; text++) await inject(harness, String(text))
  using again = await openSocket(harness, login, token)
  await until(() => again.events.length === 100)
  expect([again.events[0], again.events[99]]).toEqual(['1', '100'])
})

test('another login recovers no session of the first one', async () => {
  await using harness = await startHarness()
  const { socket, token } = await subscribed(harness)
  using _ = socket
  await cut(harness)
  const { access_token } = await harness.login()
  using again = await openSocket(harness, access_token, token)
  expect((await again.found('ConnectionDetails'))[1].recoveryState).toBe('Failed')
})

test('a session that is recovered while its first socket is still open closes that one', async () => {
  await using harness = await startHarness()
  const { socket, token, login } = await subscribed(harness)
  using first = socket
  using again = await openSocket(harness, login, token)
  await again.found('ConnectionDetails')
  expect((await first.untilClosed()).code).toBe(1000)
  expect(harness.control.sockets()).toHaveLength(1)
  expect(await inject(harness, 'once')).toEqual(['delivered'])
  await until(() => again.events.length === 1)
  expect([first.events, again.events]).toEqual([[], ['once']])
})

test('a stopped simulator closes its sockets and ends the port', async () => {
  const harness = await startHarness()
  const { socket, login } = await subscribed(harness)
  using open = socket
  const { uri } = await ticketOf(harness, login)
  await harness.simulator.stop()
  await open.untilClosed()
  expect(await inject(harness, 'x')).toEqual(['dropped'])
  expect(await fetch(uri.replace('ws:', 'http:')).catch(() => 'nobody listens')).toBe('nobody listens')
})
