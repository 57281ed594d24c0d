import { describe, expect, test } from 'bun:test'
import RingCentral from '@rc-ex/core'
import WebSocketExtension from '@rc-ex/ws'
import { SDK } from '@ringcentral/sdk'
import { Subscriptions } from '@ringcentral/subscriptions'
import { until } from '../support/world.ts'
import { ALICE, SELF, startHarness, type SimulatorHarness } from './harness.ts'
import { INSTANT } from './socket-client.ts'

// RingCentral's own clients log in by JWT and receive events by WebSocket, as its quick start does.

interface Event {
  uuid: string
  body: { subject: string }
}

interface Receiver {
  /** The status and the name of the error of a login that is refused. */
  refusal(jwt: string): Promise<unknown>
  logIn(jwt: string): Promise<{ owner_id?: string }>
  subscribe(hear: (event: Event) => void): Promise<void>
  /** Ends the subscription and the socket. */
  end(): Promise<void>
}

const RECEIVERS: [name: string, create: (url: string) => Receiver][] = [
  ['@rc-ex/ws', extensibleReceiver],
  ['@ringcentral/subscriptions', officialReceiver],
]

/** A receiver that has subscribed, and what it has heard. */
async function start(create: (url: string) => Receiver) {
  const harness = await startHarness()
  const { control, alice } = harness
  // The clients use a ticket again for their next socket, which the guide does not allow.
  control.configure({ ticketReuse: 'replaces' })
  const receiver = create(harness.simulator.url)
  const { owner_id } = await receiver.logIn(control.addJwt({ extensionId: alice }).jwt)
  expect(owner_id).toBe(alice)
  const heard: Event[] = []
  await receiver.subscribe((event) => heard.push(event))
  return {
    harness,
    receiver,
    heard: () => heard.map(({ body }) => body.subject),
    inject: (text: string) => control.injectSms({ to: ALICE, text }),
    async [Symbol.asyncDispose]() {
      await receiver.end()
      await harness[Symbol.asyncDispose]()
    },
  }
}

const wrongRequests = ({ published }: SimulatorHarness): string[] => published.wrongRequests

describe.each(RECEIVERS)('%s', (_, create) => {
  test('logs in by JWT, subscribes over a socket, hears each event, and ends both', async () => {
    await using client = await start(create)
    const { harness, receiver, heard, inject } = client
    const { messageId } = await inject('Hello')
    await inject('and again')
    await until(() => heard().length === 2)
    expect([heard(), messageId]).toEqual([['Hello', 'and again'], expect.any(String)])
    expect(harness.control.subscriptions()).toMatchObject([{ transport: 'WebSocket' }])
    await receiver.end()
    await until(() => harness.control.sockets().length === 0)
    expect(harness.control.subscriptions()).toEqual([])
    expect(wrongRequests(harness)).toEqual([])
    expect(harness.published.compared.events).toBe(2)
  })

  test.each(['close', 'cut', 'idle', 'absolute'] as const)('%s: it recovers, with what it has missed', async (kind) => {
    await using client = await start(create)
    const { harness, heard, inject } = client
    harness.control.faultSockets({ kind })
    await until(() => harness.control.sockets().length === 0)
    await inject('missed')
    await until(() => heard().length === 1, RECOVERED_MS)
    await inject('heard')
    await until(() => heard().length === 2)
    expect(heard()).toEqual(['missed', 'heard'])
    expect(harness.control.counters().requests).toMatchObject({ 'subscription-create': 1, socket: 2 })
  })

  test('a session that is lost: it subscribes again on the next socket', async () => {
    await using client = await start(create)
    const { harness, heard, inject } = client
    // Within the lifetime of the ticket.
    harness.control.configure({ recoverySeconds: 10 })
    harness.control.faultSockets({ kind: 'cut' })
    await until(() => harness.control.sockets().length === 0)
    await inject('lost')
    harness.clock.advance(10_000)
    await until(() => harness.control.subscriptions().length === 1, RECOVERED_MS)
    await inject('heard')
    await until(() => heard().length === 1)
    expect(heard()).toEqual(['heard'])
  })

  test('a JWT that was deleted is refused as an invalid grant', async () => {
    await using harness = await startHarness()
    const { jwt } = harness.control.addJwt({ extensionId: harness.alice })
    harness.control.removeJwt({ jwt })
    expect(await create(harness.simulator.url).refusal(jwt)).toEqual([400, 'invalid_grant'])
    harness.control.configure({ grants: ['authorization_code'] })
    expect(await create(harness.simulator.url).refusal(jwt)).toEqual([400, 'unauthorized_client'])
  })

  test('an app without the permission is told so', async () => {
    await using harness = await startHarness()
    harness.control.configure({ permissions: ['SMS', 'ReadAccounts'] })
    const receiver = create(harness.simulator.url)
    await receiver.logIn(harness.control.addJwt({ extensionId: harness.alice }).jwt)
    const failure = await receiver.subscribe(() => undefined).catch((error: unknown) => String(error))
    expect(failure).toContain('WebSocketsSubscription')
  })
})

test('@rc-ex/ws makes other requests over its socket, and its heartbeats are answered', async () => {
  await using harness = await startHarness()
  const { control, alice } = harness
  const rest = new RingCentral({ server: harness.simulator.url, clientId: 'app', clientSecret: 'secret' })
  await rest.authorize({ jwt: control.addJwt({ extensionId: alice }).jwt })
  const extension = new WebSocketExtension({
    restOverWebSocket: true,
    autoRecover: { enabled: true, pingServerInterval: 5 },
  })
  await rest.installExtension(extension)
  const beats: string[] = []
  extension.ws.addEventListener('message', ({ data }) => {
    if (String(data).includes('"Heartbeat"')) beats.push(String(data))
  })
  const before = control.counters().requests
  expect((await rest.get(`/restapi/v1.0${SELF}`)).data).toMatchObject({ id: Number(alice), name: 'Alice Smith' })
  expect(
    (await rest.get<{ records: unknown[] }>(`/restapi/v1.0${SELF}/message-store`, { perPage: 5 })).data.records,
  ).toEqual([])
  const refused = await rest
    .get('/restapi/v1.0/nothing')
    .catch((error: { response: { status: number } }) => error.response)
  expect(refused).toMatchObject({ status: 404 })
  expect(control.counters().requests).toEqual({ ...before, extension: 1, 'message-store': 1, unknown: 1 })
  await until(() => beats.length > 1)
  await extension.revoke()
  expect(wrongRequests(harness)).toEqual([])
})

/** The second client looks every two seconds whether its socket is open. */
const RECOVERED_MS = 15_000

function extensibleReceiver(server: string): Receiver {
  const rest = new RingCentral({ server, clientId: 'app', clientSecret: 'secret' })
  const extension = new WebSocketExtension({ autoRecover: { enabled: true, checkInterval: () => 20 } })
  return {
    refusal: (jwt) =>
      rest.authorize({ jwt }).then(
        () => 'accepted',
        ({ response }: { response: { status: number; data: { error: string } } }) => [
          response.status,
          response.data.error,
        ],
      ),
    logIn: (jwt) => rest.authorize({ jwt }),
    async subscribe(hear) {
      await rest.installExtension(extension)
      await extension.subscribe([INSTANT], (event) => hear(event as Event))
    },
    end: () => extension.revoke(),
  }
}

function officialReceiver(server: string): Receiver {
  const sdk = new SDK({ server, clientId: 'app', clientSecret: 'secret' })
  let extension: { revoke(): Promise<void> } | null = null
  return {
    refusal: (jwt) =>
      sdk
        .platform()
        .login({ jwt })
        .then(
          () => 'accepted',
          async ({ response }: { response: Response }) => [
            response.status,
            ((await response.json()) as { error: string }).error,
          ],
        ),
    logIn: async (jwt) => (await sdk.platform().login({ jwt })).json() as Promise<{ owner_id: string }>,
    async subscribe(hear) {
      const subscription = new Subscriptions({ sdk }).createSubscription()
      subscription.on(subscription.events.notification, hear)
      const { wse } = await subscription.setEventFilters([INSTANT]).register()
      extension = wse as unknown as { revoke(): Promise<void> }
    },
    end: async () => extension?.revoke(),
  }
}
