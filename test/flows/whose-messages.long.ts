import { expect, test } from 'bun:test'
import { connectedServer } from '../server/connected-server.ts'
import { startServer, temporaryFolder } from '../support/process.ts'
import { type QueueProxy, startQueueProxy } from '../support/queue-proxy.ts'
import { FROM, until } from '../support/world.ts'

const SETTLE = { RECONCILE_SETTLE: '1s' }

test('a message of a call queue whose gateway is killed during the call is found after the restart: one copy', async () => {
  using folder = temporaryFolder()
  const proxies: QueueProxy[] = []
  const between = (simulatorUrl: string): string => {
    proxies.push(startQueueProxy(simulatorUrl, FROM))
    return proxies[0]?.url ?? ''
  }
  const { simulator, server, env, send, call } = await connectedServer(folder.database, between)
  const { control } = simulator
  try {
    control.fault({ route: 'sms', fault: { kind: 'accept-then-hang' } })
    const id = await send('Hello from the queue')
    await until(() => control.messages({ direction: 'Outbound' }).length === 1)
    server.kill('SIGKILL')
    await server.ended()
    await using _again = await startServer({ ...env, ...SETTLE, PORT: String(server.port) })
    await until(async () => {
      const { status } = (await (await call(`/v1/sms/status/${id}`)).json()) as { status: string }
      return status === 'sent'
    }, 40_000)
    expect(control.messages({ direction: 'Outbound' })).toHaveLength(1)
    expect(proxies[0]?.listings.withOwner).toBeGreaterThan(0)
  } finally {
    await simulator.stop()
    await proxies[0]?.[Symbol.asyncDispose]()
  }
}, 60_000)
