import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/support/program.ts'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { cpuMs, rssMib } from './support/process-figures.ts'
import { rounded } from './support/rounded.ts'
import { GatewayProcess } from './torture/gateway-process.ts'
import { eventually } from './torture/program.ts'
import { CLIENT, type SimulatorProcess, startSimulatorProcess } from './torture/simulator-process.ts'

const EXTENSIONS = 1000
const CONNECTING_AT_ONCE = 8
const QUIET_DOWN_MS = 20_000
const WINDOW_MS = 60_000
const AWAY_MS = 20_000
const MAX_REOPENING_MS = 5 * 60_000

/** The cost of a socket for each of 1,000 extensions, and how long it takes to reopen all of them after the provider was away. */
export const extensionSockets: Bench = {
  name: 'extension sockets',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-sockets-'))
    const simulator = await startSimulatorProcess(join(folder, 'simulator.log'))
    const gateway = gatewayOf(folder, simulator)
    try {
      return [await measure(gateway, simulator, options)]
    } finally {
      await gateway.end()
      simulator.program.signal('SIGKILL')
      await simulator.program.exited
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const gatewayOf = (folder: string, { url }: SimulatorProcess): GatewayProcess =>
  new GatewayProcess({
    port: freePort(),
    path: join(folder, 'sgw.db'),
    log: join(folder, 'gateway.log'),
    env: {
      RC_CLIENT_ID: CLIENT.id,
      RC_CLIENT_SECRET: CLIENT.secret,
      RC_SERVER_URL: url,
      RC_EVENTS: 'websocket',
      LOG_LEVEL: 'warn',
    },
  })

async function measure(gateway: GatewayProcess, simulator: SimulatorProcess, options: BenchOptions): Promise<Row> {
  const count = Math.round(shortened(options, EXTENSIONS))
  await gateway.start()
  const quiet = (): Promise<void> => Bun.sleep(shortened(options, QUIET_DOWN_MS))
  await quiet()
  const emptyMib = rssMib(gateway.pid ?? 0)
  await connectAll(gateway, simulator, count)
  await gateway.kill()
  await gateway.start()
  const startMs = await allOpen(simulator, count)
  await quiet()
  const moreMib = rssMib(gateway.pid ?? 0) - emptyMib
  const cpu = await cpuShare(gateway, shortened(options, WINDOW_MS))
  await simulator.control.faultSockets({ kind: 'refuse', calls: null })
  await simulator.control.faultSockets({ kind: 'cut' })
  await Bun.sleep(shortened(options, AWAY_MS))
  await simulator.control.reset()
  const againMs = await allOpen(simulator, count)
  return {
    extensions: count,
    'more MB': rounded(moreMib),
    'CPU %': rounded(cpu),
    'all open after a start, s': rounded(startMs / 1000),
    'after the provider was away, s': rounded(againMs / 1000),
    holds: 'at 1,000: ≤ 60 MB, ≤ 1.5 %, ≤ 300 s',
  }
}

/** Connects extensions, each with a JWT. */
async function connectAll(gateway: GatewayProcess, { control }: SimulatorProcess, count: number): Promise<void> {
  const { tenantId } = await gateway.operator<{ tenantId: string }>('POST', 'tenants', { name: 'Sockets' })
  const waiting = Array.from({ length: count }, (_, index) => index)
  const connectNext = async (): Promise<void> => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const numbers = [`+1555${String(5_500_000 + index)}`]
      const { extensionId } = await control.addExtension({ name: `Extension ${index}`, numbers })
      const { jwt } = await control.addJwt({ extensionId })
      await gateway.operator('POST', 'extensions', { tenantId, jwt })
    }
  }
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, connectNext))
}

async function allOpen({ control }: SimulatorProcess, count: number): Promise<number> {
  const startedAt = performance.now()
  await eventually('All sockets', MAX_REOPENING_MS, async () =>
    (await control.sockets()).length === count ? true : null,
  )
  return performance.now() - startedAt
}

async function cpuShare({ pid }: GatewayProcess, windowMs: number): Promise<number> {
  const before = cpuMs(pid ?? 0)
  await Bun.sleep(windowMs)
  return ((cpuMs(pid ?? 0) - before) * 100) / windowMs
}
