import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { NUMBER } from '../test/support/deployment.ts'
import { FailoverProxy } from '../test/support/failover-proxy.ts'
import { IS_LITESTREAM_5 } from '../test/support/litestream.ts'
import { startRemoteSimulator } from '../test/support/remote-simulator.ts'
import { S3Stub } from '../test/support/s3-stub.ts'
import { StandbyNode } from '../test/support/standby/standby-node.ts'

// bun run dev:ha [--port 3000]   two gateways, one of which stands by, with a storage and a provider that are simulated.
// End one with kill -9 and watch the other one take over; it is started again. Nothing is kept after ^C.

const { values } = parseArgs({ options: { port: { type: 'string', default: '3000' } } })
const NAMES = ['A', 'B'] as const
const WATCH_EVERY_MS = 100
const SETTINGS = {
  DURABILITY: 'replica',
  STANDBY: 'on',
  PROVIDER_TIMEOUT: '2s',
  RECONCILE_SETTLE: '7s',
}

if (!IS_LITESTREAM_5) {
  process.stderr.write(
    'This needs Litestream 0.5.18: install Go (https://go.dev/dl), then bun test/support/litestream.ts builds it in two minutes\n',
  )
  process.exit(69)
}
await using stack = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'sgw-ha-'))
stack.defer(() => rmSync(folder, { recursive: true, force: true }))
let isStopping = false
const stopped = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.resolve())
const storage = stack.use(new S3Stub({ pageSize: 1000 }))
const simulator = await startRemoteSimulator(join(folder, 'simulator.log'))
stack.use(simulator.program)
const proxy = stack.use(await FailoverProxy.start(Number(values.port)))
const environment = { ...SETTINGS, ...storage.environment(), PUBLIC_URL: proxy.url }
const nodes: StandbyNode[] = []
for (const _ of NAMES)
  nodes.push(stack.use(await StandbyNode.create({ environment, simulator, roundTripMs: 0, preloads: [] })))
proxy.watch(nodes.map(({ url }) => url))
print(
  `Storage    ${storage.url} (S3, in memory)`,
  `Provider   ${simulator.url} (simulated)`,
  `Logs       ${nodes.map(({ deployment }) => join(deployment.folder, '*.log')).join(' ')}`,
  `Clients    ${proxy.url}`,
)
const watching = watch()
await stopped.promise
print('Stopping')
isStopping = true
await watching

/** Prints each change of a gateway. The first one that works gets an app, and an extension that can send. */
async function watch(): Promise<void> {
  const shown = nodes.map(() => '')
  let isConnected = false
  while (!isStopping) {
    for (const [at, node] of nodes.entries()) {
      const line = `Gateway ${NAMES[at] ?? ''}  ${node.url}  pid ${node.deployment.pid}  ${(await node.status()) ?? 'does not answer'}`
      if (line !== shown[at]) print(line)
      shown[at] = line
      if (isConnected || !line.endsWith('ready')) continue
      isConnected = true
      await connect(node)
    }
    await Bun.sleep(WATCH_EVERY_MS)
  }
}

async function connect({ deployment }: StandbyNode): Promise<void> {
  await deployment.connect('http://127.0.0.1:9/nobody')
  const sms = JSON.stringify({ from: NUMBER, to: '+15555550199', body: 'Hello' })
  print(
    `Send       curl ${proxy.url}/v1/sms/send -H 'Authorization: Bearer ${deployment.key}' -d '${sms}'`,
    `Kill       kill -9 ${deployment.pid}     or let it hand over: kill ${deployment.pid}`,
  )
}

function print(...lines: string[]): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 23)}  ${lines.join('\n              ')}\n`)
}
