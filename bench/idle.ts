import { floorOf, gatewayOf, openInboundStage } from './inbound/contestants.ts'
import type { Row } from './row.ts'
import { startChild } from './support/child.ts'
import { rounded } from './support/compared.ts'
import { cpuMs, sleeps } from './support/process-figures.ts'
import { EventIds } from './support/provider-events.ts'

const SOCKETS = 10
/** What the start, the connection of the extension and the sockets left to do is done by then. */
const SETTLE_MS = 15_000
const WINDOW_MS = 20_000

/** The CPU share of a gateway that nobody uses: one connected extension, 10 open sockets; beside a bare server's. */
async function benchIdle(): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const inbound = await openInboundStage(new EventIds(), stack)
  const floor = stack.use(await startChild('event-floor.ts', ['fetch']))
  for (const { port, key } of [floorOf(floor), gatewayOf(inbound)]) {
    const clients = stack.use(await startChild('socket-clients.ts'))
    await clients.ask({ open: { port, count: SOCKETS, keys: [key] } })
  }
  await Bun.sleep(SETTLE_MS)
  // Side by side in the same seconds: two that do nothing do not disturb each other.
  const [limit, own] = await Promise.all([floor.pid, inbound.stage.gateway.pid ?? 0].map(watch))
  return [
    { case: 'bare Bun server', ...limit, 'bar → aim': '' },
    { case: 'gateway, 1 extension', ...own, 'bar → aim': 'CPU ≤ 1 → 0.2 %' },
  ]
}

async function watch(pid: number): Promise<Row> {
  const cpuBefore = cpuMs(pid)
  const before = sleeps(pid)
  await Bun.sleep(WINDOW_MS)
  const cpu = cpuMs(pid) - cpuBefore
  const perSecond = [...sleeps(pid)]
    .map(([name, count]) => ({ name, rate: ((count - (before.get(name) ?? 0)) * 1000) / WINDOW_MS }))
    .filter(({ rate }) => rate > 0)
    .toSorted((a, b) => b.rate - a.rate)
  return {
    'CPU %': rounded((cpu * 100) / WINDOW_MS),
    'wakes/s': rounded(perSecond.reduce((sum, { rate }) => sum + rate, 0)),
    'of these, by thread': perSecond.map(({ name, rate }) => `${name} ${rounded(rate)}`).join(', '),
  }
}

export default { name: 'idle', run: benchIdle }

if (import.meta.main) console.table(await benchIdle())
