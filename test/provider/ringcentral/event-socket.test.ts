import { expect, test } from 'bun:test'
import type { ServerWebSocket } from 'bun'
import { fixOf } from '../../../src/provider/ringcentral/fixes.ts'
import { until } from '../../support/world.ts'
import { ACCESS_TOKEN, errorBody, failureOf, valueOf } from './servers.ts'
import {
  FakeGateway,
  RECOVERY,
  SUBSCRIPTION,
  TICKET,
  answerOf,
  detailsOf,
  eventFrame,
  greet,
  ticketOf,
  usualAnswer,
} from './socket-gateway.ts'

test('a socket is opened with a ticket, and one subscription for texts is made over it', async () => {
  using gateway = new FakeGateway()
  const socket = valueOf(await gateway.open())
  expect(socket).toMatchObject({ subscriptionId: 'sub-1', recovered: false, lifeMs: 3_600_000 })
  expect(socket.recovery()).toEqual({ token: RECOVERY, subscriptionId: 'sub-1', forMs: 120_000 })
  expect(gateway.headers[0]?.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  expect(gateway.headers[1]?.get('sec-websocket-extensions')).toBeNull()
  expect(gateway.opened.map(({ search }) => search)).toEqual([`?region=1&access_token=${TICKET}`])
  const [[meta, body] = [{}]] = gateway.frames
  expect(gateway.frames).toHaveLength(1)
  expect(meta).toMatchObject({ type: 'ClientRequest', method: 'POST', path: '/restapi/v1.0/subscription' })
  expect(body).toEqual({
    eventFilters: ['/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'],
    deliveryMode: { transportType: 'WebSocket' },
  })
  socket.close()
})

test('nothing is sent before the gateway has greeted, and each call has its own ticket', async () => {
  const sockets: ServerWebSocket<unknown>[] = []
  using gateway = new FakeGateway({ greet: (socket) => void sockets.push(socket) })
  const opening = gateway.open()
  await until(() => sockets.length === 1)
  expect(gateway.frames).toEqual([])
  sockets[0]?.send(detailsOf())
  valueOf(await opening).close()
  expect(gateway.headers).toHaveLength(2)
})

test('a recovered session needs no subscription; one that is refused gets another', async () => {
  const recovery = { token: 'old-token', subscriptionId: 'old-sub', forMs: 1 }
  for (const [recoveryState, expected] of [
    ['Successful', { subscriptionId: 'old-sub', recovered: true }],
    ['Failed', { subscriptionId: 'sub-1', recovered: false }],
    [undefined, { subscriptionId: 'sub-1', recovered: false }],
  ] as const) {
    using gateway = new FakeGateway({ greet: (socket) => void socket.send(detailsOf({ recoveryState })) })
    const socket = valueOf(await gateway.open({ recovery }))
    expect(socket).toMatchObject(expected)
    expect(gateway.opened[0]?.searchParams.get('wsc')).toBe('old-token')
    socket.close()
  }
})

test('events are passed on, also one that comes before the subscription is answered', async () => {
  const early: ServerWebSocket<unknown>[] = []
  using gateway = new FakeGateway({
    greet: (socket) => {
      early.push(socket)
      greet(socket)
    },
    answer: (meta) => {
      early[0]?.send(eventFrame({ uuid: 'early' }))
      return usualAnswer(meta)
    },
  })
  const socket = valueOf(await gateway.open())
  early[0]?.send(eventFrame({ uuid: 'late' }))
  await until(() => gateway.events.length === 2)
  expect(gateway.events).toEqual([{ uuid: 'early' }, { uuid: 'late' }])
  socket.close()
})

const UNREADABLE = {
  'is no JSON': '<html>503</html>',
  'is no array': '{"type":"ServerNotification"}',
  'has no metadata': '[null,{}]',
  'is an event without a body': eventFrame(undefined),
  'is an event whose body is a text': eventFrame('text'),
  'is huge': `[{"type":"ServerNotification"},{"a":"${'x'.repeat(300_000)}"}]`,
}
test.each(Object.entries(UNREADABLE))(
  'a frame that %s ends the socket, because it may have been an event',
  async (_name, frame) => {
    const open: ServerWebSocket<unknown>[] = []
    using gateway = new FakeGateway({
      greet: (socket) => {
        open.push(socket)
        greet(socket)
      },
    })
    valueOf(await gateway.open())
    open[0]?.send(frame)
    await until(() => gateway.ends.length === 1)
    expect(gateway.ends).toEqual([{ code: 1006, reason: 'unreadable frame' }])
    expect(gateway.events).toEqual([])
  },
)

test('frames that mean nothing to the gateway change nothing', async () => {
  const open: ServerWebSocket<unknown>[] = []
  using gateway = new FakeGateway({
    greet: (socket) => {
      open.push(socket)
      greet(socket)
    },
  })
  const socket = valueOf(await gateway.open())
  for (const frame of [
    '[{"type":"Heartbeat","messageId":"x"}]',
    '[{"type":"New"},{}]',
    '[{}]',
    '[{"type":7,"status":"x"}]',
  ])
    open[0]?.send(frame)
  expect(await socket.heartbeat()).toBe(true)
  expect(gateway.ends).toEqual([])
  socket.close()
})

test('the reason that the gateway gives before it closes is told', async () => {
  const open: ServerWebSocket<unknown>[] = []
  using gateway = new FakeGateway({
    greet: (socket) => {
      open.push(socket)
      greet(socket)
    },
  })
  valueOf(await gateway.open())
  open[0]?.send(
    JSON.stringify([{ type: 'Error', messageId: 'x', status: 408 }, errorBody('WSG-903', 'Absolute timeout expired')]),
  )
  open[0]?.close(1000)
  await until(() => gateway.ends.length === 1)
  expect(gateway.ends).toEqual([{ code: 1000, reason: 'WSG-903' }])
})

test('a gateway that never greets, and one that never answers, fail in time', async () => {
  for (const script of [{ greet: () => undefined }, { answer: () => undefined }]) {
    using gateway = new FakeGateway(script)
    // On a busy machine, the ticket before it takes its time.
    const failure = failureOf(await gateway.open({}, { timeoutMs: 1000 }))
    expect(failure).toMatchObject({ reason: 'ambiguous', code: 'ERR_SOCKET_TIMEOUT' })
  }
})

test('a stop ends the attempt at once', async () => {
  const stop = new AbortController()
  using gateway = new FakeGateway({ greet: () => stop.abort() })
  const failure = failureOf(await gateway.open({ signal: stop.signal }, { timeoutMs: 60_000 }))
  expect(failure.code).toBe('ERR_SOCKET_CLOSED')
})

test('the credentials of a socket go only to the provider’s own kind of connection', async () => {
  for (const uri of ['http://127.0.0.1:1/ws', 'wss://127.0.0.1:1/ws', 'nonsense', '']) {
    using gateway = new FakeGateway({ ticket: () => ticketOf(uri) })
    expect(failureOf(await gateway.open())).toMatchObject({ reason: 'ambiguous', status: null })
    expect(gateway.opened).toEqual([])
  }
})

test('an address that no socket can have is a failure as well, not a thrown error that names the ticket', async () => {
  using gateway = new FakeGateway({ ticket: (uri) => ticketOf(`${uri}#fragment`) })
  const failure = failureOf(await gateway.open())
  expect(failure).toMatchObject({ reason: 'ambiguous', status: null })
  expect(failure.message).not.toContain(TICKET)
})

const NO_GREETING = {
  'an error without an id': ['[{"type":"Error","status":401},{"errorCode":"WSG-901","message":"No"}]', 'WSG-901'],
  'a heartbeat without an id': ['[{"type":"Heartbeat"}]', 'ERR_SOCKET_TIMEOUT'],
  'a frame of a kind that nobody knows': ['[{"type":"New","messageId":""}]', 'ERR_SOCKET_TIMEOUT'],
} as const
test.each(Object.entries(NO_GREETING))('%s is no greeting', async (_name, [frame, code]) => {
  using gateway = new FakeGateway({ greet: (socket) => void socket.send(frame) })
  expect(failureOf(await gateway.open({}, { timeoutMs: 100 }))).toMatchObject({ code })
  expect(gateway.frames).toEqual([])
})

test('what the gateway says of the credentials in its address is not passed on', async () => {
  const recovery = { token: 'old-recovery-0123456789', subscriptionId: 'sub-0', forMs: 1 }
  const words = `${TICKET} and ${recovery.token} and ${RECOVERY}`
  const errorFrame = (messageId: string): string =>
    JSON.stringify([{ type: 'Error', messageId, status: 401 }, errorBody(`No ${words}`, `Invalid ${words}`)])
  const secret = new RegExp([TICKET, recovery.token, RECOVERY].join('|'))

  using refusing = new FakeGateway({ greet: (socket) => void socket.send(errorFrame('x')) })
  expect(JSON.stringify(failureOf(await refusing.open({ recovery })))).not.toMatch(
    new RegExp(`${TICKET}|${recovery.token}`),
  )

  const open: ServerWebSocket<unknown>[] = []
  using gateway = new FakeGateway({
    greet: (socket) => {
      open.push(socket)
      greet(socket)
    },
    answer: (meta) => (open.length === 1 ? errorFrame(String(meta['messageId'])) : usualAnswer(meta)),
  })
  expect(JSON.stringify(failureOf(await gateway.open({ recovery })))).not.toMatch(secret)
  valueOf(await gateway.open({ recovery }))
  open[1]?.send(errorFrame('y'))
  open[1]?.close(1000)
  await until(() => gateway.ends.length === 1)
  expect(gateway.ends).toEqual([{ code: 1000, reason: null }])
})

test('lifetimes that no date can hold count as absent, and so does a recovery that no address can', async () => {
  for (const [told, lifeMs, forMs] of [
    [{ absoluteTimeout: 1e300, recoveryTimeout: 1e300 }, 86_400_000, 180_000],
    [{ absoluteTimeout: 0, recoveryTimeout: -1 }, 86_400_000, 180_000],
    [{ absoluteTimeout: 60.0004, recoveryTimeout: 0 }, 60_000, 0],
  ] as const) {
    using gateway = new FakeGateway({ greet: (socket) => void socket.send(detailsOf(told)) })
    const socket = valueOf(await gateway.open())
    expect([socket.lifeMs, socket.recovery()?.forMs]).toEqual([lifeMs, forMs])
    socket.close()
  }
  const longToken = JSON.stringify([{ type: 'ConnectionDetails', wsc: { token: 'x'.repeat(100_000) } }, {}])
  using gateway = new FakeGateway({ greet: (socket) => void socket.send(longToken) })
  const socket = valueOf(await gateway.open())
  expect(socket.recovery()).toBeNull()
  socket.close()
})

test('a refused upgrade names its status, and nothing of the address', async () => {
  using closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status: 503 }) })
  using gateway = new FakeGateway({ ticket: () => ticketOf(`ws://127.0.0.1:${closed.port}/ws`) })
  const failure = failureOf(await gateway.open())
  expect(failure).toMatchObject({ reason: 'ambiguous', status: null, code: 'ERR_UPGRADE_503' })
  expect(JSON.stringify(failure)).not.toContain(TICKET)
})

test('an app without the permission is told which one, whatever the answer names', async () => {
  for (const [status, code] of [
    [403, 'CMN-401'],
    [403, 'InsufficientPermissions'],
    [403, 'AGW-402'],
  ] as const) {
    using gateway = new FakeGateway({
      ticket: () => Response.json({ ...errorBody(code, 'needs [WebSocket]'), permissionName: 'WebSocket' }, { status }),
    })
    const failure = failureOf(await gateway.open())
    expect(fixOf(failure, 'subscription', 'https://sms.example.com')).toStartWith(
      'The RingCentral app lacks the permission WebSocketsSubscription: add it in the developer console, then connect again.',
    )
  }
})

test('a subscription that is refused over the socket fails with the provider’s code', async () => {
  for (const [status, code] of [
    [403, 'SUB-405'],
    [400, 'SUB-505'],
    [401, 'OAU-213'],
    [429, 'CMN-301'],
  ] as const) {
    using gateway = new FakeGateway({ answer: (meta) => answerOf(meta, status, errorBody(code, 'No')) })
    expect(failureOf(await gateway.open())).toMatchObject({ status, code, requestId: 'request-1' })
  }
  using refused = new FakeGateway({ answer: (meta) => answerOf(meta, 200, { ...SUBSCRIPTION, disabledFilters: [{}] }) })
  expect(failureOf(await refused.open())).toMatchObject({ reason: 'rejected', code: 'SUB-412' })
})

test('whether the subscription lives is asked over the socket', async () => {
  const next = { status: 200, body: SUBSCRIPTION as object }
  using gateway = new FakeGateway({
    answer: (meta) => (meta['method'] === 'GET' ? answerOf(meta, next.status, next.body) : usualAnswer(meta)),
  })
  const socket = valueOf(await gateway.open())
  const says = async (status: number, body: object = SUBSCRIPTION): Promise<boolean | null> => {
    Object.assign(next, { status, body })
    return socket.isSubscribed()
  }
  // A provider that knows no such request must not end each socket.
  expect(await says(404, errorBody('CMN-102', 'Not found'))).toBeNull()
  expect(await says(200)).toBe(true)
  expect(await says(404, errorBody('SUB-501', 'Not found'))).toBe(false)
  expect(await says(200, { ...SUBSCRIPTION, status: 'Suspended' })).toBe(false)
  expect(await says(401, errorBody('OAU-213', 'Token not found'))).toBe(false)
  expect(await says(503, errorBody('CMN-201', 'Unavailable'))).toBeNull()
  socket.close()
})

test('a heartbeat that nobody answers fails in time', async () => {
  using gateway = new FakeGateway({ answer: (meta) => (meta['type'] === 'Heartbeat' ? undefined : usualAnswer(meta)) })
  const socket = valueOf(await gateway.open({}, { timeoutMs: 300 }))
  expect(await socket.heartbeat()).toBe(false)
  socket.close()
  expect(gateway.ends).toEqual([])
})
