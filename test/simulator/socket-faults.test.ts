import { expect, test } from 'bun:test'
import { SOCKET_FAULTS } from '../../src/core/provider-changes.ts'
import { until } from '../support/world.ts'
import { ALICE, answer, BOB, startHarness, type SimulatorHarness } from './harness.ts'
import { openSocket, SocketClient, ticketOf } from './socket-client.ts'

interface Stage extends AsyncDisposable {
  harness: SimulatorHarness
  socket: SocketClient
  /** The access token. */
  login: string
  /** For recovery. */
  token: string
}

/** A socket that has subscribed. */
async function open(): Promise<Stage> {
  const harness = await startHarness({ limits: false })
  const { access_token } = await harness.login()
  const socket = await openSocket(harness, access_token)
  const [{ wsc }] = await socket.found('ConnectionDetails')
  await socket.subscribe()
  return {
    harness,
    socket,
    login: access_token,
    token: wsc.token,
    async [Symbol.asyncDispose]() {
      socket[Symbol.dispose]()
      await harness[Symbol.asyncDispose]()
    },
  }
}

const inject = async ({ control }: SimulatorHarness, text: string) =>
  (await control.injectSms({ to: ALICE, text })).deliveries.map(({ outcome }) => outcome)

test.each([
  ['close', 1000, undefined],
  ['cut', 1006, undefined],
  ['idle', 1000, 'WSG-902'],
  ['absolute', 1000, 'WSG-903'],
] as const)('%s ends the open sockets', async (kind, code, reason) => {
  await using stage = await open()
  const { harness, socket } = stage
  expect(harness.control.faultSockets({ kind })).toEqual({ sockets: 1 })
  expect(await socket.untilClosed()).toEqual({ code, wasClean: code === 1000 })
  expect(socket.frames.find(([{ type }]) => type === 'Error')?.[1].errorCode).toBe(reason as string)
  expect(await inject(harness, 'later')).toEqual(['delayed'])
})

test('silent: the socket stays open, and nothing comes and nothing is heard', async () => {
  await using stage = await open()
  const { harness, socket, login, token } = stage
  harness.control.faultSockets({ kind: 'silent' })
  expect(harness.control.sockets()).toMatchObject([{ isSilent: true }])
  const before = socket.frames.length
  socket.send([{ type: 'Heartbeat', messageId: '1' }])
  expect(await inject(harness, 'lost')).toEqual(['dropped'])
  // A socket beside it works, so the first one had time to answer.
  using again = await openSocket(harness, login, token)
  await again.found('ConnectionDetails')
  await socket.untilClosed()
  expect([socket.frames.length, again.events]).toEqual([before, []])
})

test.each([
  ['no-json', (text: string) => text.startsWith('<html>')],
  ['huge', (text: string) => text.length > 20_000_000],
  ['no-body', (text: string) => (JSON.parse(text) as unknown[]).length === 1],
  ['heartbeat', (text: string) => text.includes('"Heartbeat"')],
] as const)('%s sends such a frame, and the socket goes on', async (kind, isIt) => {
  await using stage = await open()
  const { harness, socket } = stage
  harness.control.faultSockets({ kind })
  expect(await inject(harness, 'after it')).toEqual(['delivered'])
  await until(() => socket.texts.some((text) => text.includes('after it')))
  expect(isIt(socket.texts.at(-2) ?? '')).toBe(true)
})

test.each([
  ['refuse', 503],
  ['unauthorized', 401],
  ['hang', null],
] as const)('%s: the next upgrade is not accepted, and leaves the ticket unused', async (kind, status) => {
  await using stage = await open()
  const { harness, login } = stage
  const { uri, ws_access_token } = await ticketOf(harness, login)
  harness.control.faultSockets({ kind })
  using refused = new SocketClient(`${uri}?access_token=${ws_access_token}`)
  await until(() => harness.control.requests({ route: 'socket' }).at(-1)?.fault === kind)
  expect(harness.control.requests({ route: 'socket' }).at(-1)?.status).toBe(status)
  if (status !== null) expect((await refused.untilClosed()).code).toBe(1006)
  using next = new SocketClient(`${uri}?access_token=${ws_access_token}`)
  await next.found('ConnectionDetails')
  expect(refused.frames).toEqual([])
})

test('error: a frame that says so comes instead of the details', async () => {
  await using stage = await open()
  const { harness, login } = stage
  harness.control.faultSockets({ kind: 'error' })
  using socket = await openSocket(harness, login)
  expect((await socket.untilClosed()).code).toBe(4401)
  expect(socket.frames.map(([{ type }]) => type)).toEqual(['Error'])
})

test('no-details: the socket says nothing at first, and works', async () => {
  await using stage = await open()
  const { harness, login } = stage
  harness.control.faultSockets({ kind: 'no-details' })
  using socket = await openSocket(harness, login)
  await until(() => harness.control.sockets().length === 2)
  const [{ status }] = await socket.subscribe()
  expect([status, socket.frames.length]).toEqual([200, 1])
})

test('forget: the next recovery fails, however soon, and other connections do not count', async () => {
  await using stage = await open()
  const { harness, login, token } = stage
  harness.control.faultSockets({ kind: 'forget' })
  using other = await openSocket(harness, login)
  expect((await other.found('ConnectionDetails'))[1].recoveryState).toBeUndefined()
  using forgotten = await openSocket(harness, login, token)
  expect((await forgotten.found('ConnectionDetails'))[1].recoveryState).toBe('Failed')
  expect(harness.control.subscriptions()).toEqual([])
})

test('early-event: the subscription is answered after its first event', async () => {
  await using stage = await open()
  const { harness, login } = stage
  harness.control.faultSockets({ kind: 'early-event' })
  using socket = await openSocket(harness, login)
  await socket.found('ConnectionDetails')
  expect((await socket.subscribe([]))[0].status).toBe(400)
  const subscribed = socket.subscribe()
  await until(() => harness.control.subscriptions().length === 2)
  await inject(harness, 'early')
  await subscribed
  const types = socket.frames.map(([{ type }]) => type)
  expect(types).toEqual(['ConnectionDetails', 'ClientRequest', 'ServerNotification', 'ClientRequest'])
})

test.each([
  ['ticket-401', 401, 'OAU-213'],
  ['ticket-403', 403, 'CMN-401'],
  ['ticket-429', 429, 'CMN-301'],
  ['ticket-503', 503, 'CMN-201'],
] as const)('%s: the next ticket is refused', async (kind, status, code) => {
  await using stage = await open()
  const { harness, login } = stage
  harness.control.faultSockets({ kind, calls: 2 })
  const ask = () => {
    const headers = { authorization: `Bearer ${login}` }
    return answer(fetch(`${harness.simulator.url}/restapi/oauth/wstoken`, { method: 'POST', headers }))
  }
  const answers = [await ask(), await ask(), await ask()]
  expect(answers.map((one) => one.status)).toEqual([status, status, 200])
  expect(answers[0]?.body.errorCode).toBeOneOf([code, 'TokenInvalid', 'InsufficientPermissions'])
  expect(answers[0]?.body.errors[0]?.errorCode).toBe(code)
})

test('ticket-hang: the next ticket never comes', async () => {
  await using stage = await open()
  const { harness, login } = stage
  harness.control.faultSockets({ kind: 'ticket-hang' })
  const controller = new AbortController()
  const headers = { authorization: `Bearer ${login}` }
  const asked = fetch(`${harness.simulator.url}/restapi/oauth/wstoken`, {
    method: 'POST',
    headers,
    signal: controller.signal,
  }).catch(() => 'no answer')
  expect((await ticketOf(harness, login)).expires_in).toBe(30)
  controller.abort()
  expect(await asked).toBe('no answer')
})

test('no-subscription, drop, delay and duplicate affect one extension', async () => {
  await using stage = await open()
  const { harness, socket } = stage
  const { control } = harness
  const bob = control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  for (const kind of ['no-subscription', 'drop'] as const) control.faultSockets({ kind, extensionId: bob, calls: null })
  const [{ status }] = await socket.subscribe()
  expect([status, await inject(harness, 'undisturbed')]).toEqual([200, ['delivered']])
  control.faultSockets({ kind: 'drop' })
  control.faultSockets({ kind: 'delay', ms: 500 })
  control.faultSockets({ kind: 'duplicate' })
  const outcomes = []
  for (const text of ['dropped', 'delayed', 'doubled']) outcomes.push(...(await inject(harness, text)))
  expect(outcomes).toEqual(['dropped', 'delayed', 'delivered', 'delivered'])
  harness.clock.advance(500)
  await until(() => socket.events.length === 4)
  expect(socket.events).toEqual(['undisturbed', 'doubled', 'doubled', 'delayed'])
  control.faultSockets({ kind: 'no-subscription' })
  const [refused, { errorCode }] = await socket.subscribe()
  expect([refused.status, errorCode]).toEqual([403, 'SUB-505'])
})

test('a fault of one extension leaves the sockets of others alone, and a reset ends what is to come', async () => {
  await using stage = await open()
  const { harness, socket, login } = stage
  const { control } = harness
  const bob = control.addExtension({ name: 'Bob', numbers: [BOB] }).extensionId
  expect(control.faultSockets({ kind: 'cut', extensionId: bob })).toEqual({ sockets: 0 })
  for (const kind of ['refuse', 'ticket-503', 'drop', 'no-subscription'] as const)
    control.faultSockets({ kind, calls: null })
  control.reset()
  using next = await openSocket(harness, login)
  await next.found('ConnectionDetails')
  expect(socket.closed).toBeNull()
  expect(await inject(harness, 'as ever')).toEqual(['delivered'])
})

test('a fault that it does not know is refused, with those that it knows', async () => {
  await using harness = await startHarness()
  const fault = (argument: unknown) => () => harness.control.faultSockets(argument as { kind: 'cut' })
  for (const kind of SOCKET_FAULTS) expect(() => fault({ kind, calls: 0 })()).toThrow('Cannot use calls')
  expect(fault({ kind: 'explode' })).toThrow(/Cannot use kind: .*"close"\|"cut"/)
  expect(fault({ kind: 'cut', times: 2 })).toThrow('Unknown setting times')
})
