import { toContestantCore } from '../support/cores.ts'
import { startChild } from '../support/child.ts'
import { Connections } from '../support/posts.ts'
import { openEventGateway } from '../support/provider-events.ts'
import { BURST, type Path } from './path.ts'

/** From the provider's event to its 200, a WebSocket and a webhook. */
export const inboundPath: Path = {
  name: 'inbound, 1 WebSocket, 1 webhook',
  async open(source) {
    await using stack = new AsyncDisposableStack()
    const { gateway, events } = await openEventGateway(source)
    stack.use(gateway)
    toContestantCore(gateway.pid)
    const receiver = stack.use(await startChild('receivers.ts'))
    const [callbackUrl] = receiver.ready as string[]
    await gateway.call('POST', '/v1/triggers', { callbackUrl })
    const socket = stack.use(await startChild('socket-clients.ts'))
    await socket.ask({ open: { port: gateway.port, count: 1, keys: [gateway.key] } })
    const opened = stack.move()
    return {
      pid: gateway.pid,
      async connect() {
        const connections = await Connections.open(gateway.port, BURST)
        return {
          async burst() {
            const arrived = [receiver, socket].map((child) => child.ask({ expect: BURST }))
            const { refused } = await connections.postAll(events.requests(BURST))
            if (refused > 0) throw new Error(`${refused} events were refused`)
            await Promise.all(arrived)
          },
          [Symbol.dispose]: () => connections[Symbol.dispose](),
        }
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    }
  },
}
