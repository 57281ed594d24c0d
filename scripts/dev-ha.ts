import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { listenError } from '../src/api/http/listener.ts'
import { Settings } from '../src/core/settings.ts'
import { EXIT, StartError } from '../src/core/start-error.ts'
import { NUMBER } from '../test/support/deployment.ts'
import { FailoverProxy } from '../test/support/failover-proxy.ts'
import { HAS_LITESTREAM } from '../test/support/litestream.ts'
import { startRemoteSimulator } from '../test/support/remote-simulator.ts'
import { S3Stub } from '../test/support/s3-stub.ts'
import { StandbyNode } from '../test/support/standby/standby-node.ts'

// bun run dev:ha [--port 3000]   two gateways, one of which stands by, with a storage and a provider that are simulated.
// Clients use one port, that of --port or PORT; the gateways behind it take free ones.
// End one with kill -9 and watch the other one take over; it is started again. Nothing is kept after ^C.

const { values } = parseArgs({ options: { port: { type: 'string', default: process.env['PORT'] ?? '' } } })
const HOST = '127.0.0.1'
const NAMES = ['A', 'B'] as const
const WATCH_EVERY_MS = 100
const SETTINGS = {
  DURABILITY: 'replica',
  STANDBY: 'on',
  PROVIDER_TIMEOUT: '2s',
  RECONCILE_SETTLE: '7s',
}

if (!HAS_LITESTREAM)
  refuse(
    EXIT.unavailable,
    'This needs Litestream 0.5.18 in the PATH (docs/install.md says how to get it), or Go (https://go.dev/dl), with which bun test/support/litestream.ts builds it in two minutes',
  )
const settings = new Settings({ values: { PORT: values.port }, readFile: String })
const port = settings.integer('PORT', 3000, 1, 65_535)
if (settings.problems.length > 0) refuse(EXIT.badConfig, settings.problems.join('\n'))
const listening = await FailoverProxy.start(port).catch((error: unknown) => listenError({ host: HOST, port }, error))
if (listening instanceof StartError) refuse(listening.exitCode, listening.message)
await using stack = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'sgw-ha-'))
stack.defer(() => rmSync(folder, { recursive: true, force: true }))
let isStopping = false
const stopped = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.resolve())
const storage = stack.use(new S3Stub({ pageSize: 1000 }))
const simulator = await startRemoteSimulator(join(folder, 'simulator.log'))
stack.use(simulator.program)
const proxy = stack.use(listening)
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

/** Prints each change of a gateway, and of one that works how to end and to ask it. The first one gets an app, and an extension that can send. */
async function watch(): Promise<void> {
  const shown = nodes.map(() => '')
  let isConnected = false
  while (!isStopping) {
    for (const [at, node] of nodes.entries()) {
      const line = `Gateway ${NAMES[at] ?? ''}  ${node.url}  pid ${node.deployment.pid}  ${(await node.status()) ?? 'does not answer'}`
      if (line === shown[at]) continue
      print(line)
      shown[at] = line
      if (!line.endsWith('ready')) continue
      if (!isConnected) await connect(node)
      isConnected = true
      print(
        `Kill       kill -9 ${node.deployment.pid}     or let it hand over: kill ${node.deployment.pid}`,
        `Ask        DATABASE_URL=file:${node.deployment.database} bun src/cli.ts lease     also doctor, status`,
      )
    }
    await Bun.sleep(WATCH_EVERY_MS)
  }
}

async function connect({ deployment }: StandbyNode): Promise<void> {
  await deployment.connect('http://127.0.0.1:9/nobody')
  const sms = JSON.stringify({ from: NUMBER, to: '+15555550199', body: 'Hello' })
  print(`Send       curl ${proxy.url}/v1/sms/send -H 'Authorization: Bearer ${deployment.key}' -d '${sms}'`)
}

function print(...lines: string[]): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 23)}  ${lines.join('\n              ')}\n`)
}

function refuse(exitCode: number, message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(exitCode)
}
