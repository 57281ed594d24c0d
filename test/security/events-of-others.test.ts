import { expect, test } from 'bun:test'
import type { ServerWebSocket } from 'bun'
import { SUBSCRIPTION, answerOf, detailsOf, eventFrame, ticketOf } from '../provider/ringcentral/socket-gateway.ts'
import { createWorld, recordedLog, until } from '../support/world.ts'

/** Passes calls on to the simulator, but brings the events itself: over one socket for each extension, in the order of their opening. */
class EventGateway implements Disposable {
  readonly sockets: ServerWebSocket<unknown>[] = []
  #server: Bun.Server<unknown> | null = null

  before = (simulator: string): string => {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request, server): Promise<Response | undefined> => {
        const { pathname, search, host } = new URL(request.url)
        if (pathname === '/restapi/oauth/wstoken') return ticketOf(`ws://${host}/ws`)
        if (pathname === '/ws') return server.upgrade(request, { data: null }) ? undefined : new Response()
        const { method, headers } = request
        const body = method === 'GET' ? null : await request.text()
        return fetch(`${simulator}${pathname}${search}`, { method, headers, body, redirect: 'manual' })
      },
      websocket: {
        open: (socket) => {
          this.sockets.push(socket)
          socket.send(detailsOf())
        },
        message: (socket, text) => {
          const [meta] = JSON.parse(String(text)) as [Record<string, unknown>]
          socket.send(answerOf(meta, 200, { ...SUBSCRIPTION, id: `sub-${this.sockets.indexOf(socket)}` }))
        },
      },
    })
    return `http://127.0.0.1:${this.#server.port}`
  };

  [Symbol.dispose](): void {
    void this.#server?.stop(true)
  }
}

const eventOf = (id: string, ownerId: string, subscriptionId: string): object => ({
  event: `/restapi/v1.0/account/~/extension/${ownerId}/message-store/instant?type=SMS`,
  subscriptionId,
  ownerId,
  body: {
    id,
    direction: 'Inbound',
    type: 'SMS',
    eventType: 'Create',
    from: { phoneNumber: '+15555550177' },
    to: [{ phoneNumber: '+15555550100' }],
    subject: id,
  },
})

test('a socket brings no tenant the events of another', async () => {
  using events = new EventGateway()
  const { log, lines } = recordedLog()
  await using world = await createWorld({ between: events.before, log, env: { RC_EVENTS: 'websocket' } })
  const [{ extensionId: mine } = { extensionId: '' }] = world.control.extensions()
  const { extensionId: theirs } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550150'] })
  const other = await world.otherTenant()
  expect((await world.connect({ tenantId: other.tenantId, extensionId: theirs })).ok).toBe(true)
  await until(() => events.sockets.length === 2)

  const [socket] = events.sockets
  for (const [id, ownerId, subscriptionId] of [
    ['1001', theirs, 'sub-0'],
    ['1002', mine, 'sub-1'],
    ['1003', theirs, 'sub-1'],
    ['1004', mine, 'sub-0'],
  ] as const)
    socket?.send(eventFrame(eventOf(id, ownerId, subscriptionId)))

  const stored = async (key: string): Promise<string[]> => {
    const { body } = await world.json<{ messages: { body: string }[] }>('GET', '/v1/sms/messages', { key })
    return body.messages.map((message) => message.body)
  }
  await until(async () => (await stored(world.key)).includes('1004'))
  expect([await stored(world.key), await stored(other.apiKey)]).toEqual([['1004'], []])
  expect(lines.filter((line) => line.includes('of another tenant'))).toHaveLength(3)
  expect(lines.join('')).not.toContain('+15555550177')
})
