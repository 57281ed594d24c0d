import { type Bench, type Row, shortened } from './bench.ts'
import { type EventServer, floorOf, gatewaysOf, openInboundStage } from './inbound/contestants.ts'
import { startChild } from './support/child.ts'
import { cpuMs, sleeps } from './support/process-figures.ts'
import { rounded } from './support/rounded.ts'

const SOCKETS = 10
/** Long enough for the work that follows the start, the connection of the extension and the opening of the sockets. */
const QUIET_DOWN_MS = 15_000
const WINDOW_MS = 20_000

/** The CPU share of an idle gateway with one connected extension and 10 open sockets, compared with a bare server. */
export const idle: Bench = {
  name: 'idle',
  async run(options) {
    await using stack = new AsyncDisposableStack()
    const inbound = await openInboundStage(options, stack)
    const floor = stack.use(await startChild('event-floor.ts', ['fetch']))
    const contestants = [floorOf(floor, 'bare Bun server'), ...gatewaysOf(inbound)]
    for (const { port, key } of contestants) {
      const clients = stack.use(await startChild('socket-clients.ts'))
      await clients.ask({ open: { port, count: SOCKETS, keys: [key] } })
    }
    await Bun.sleep(shortened(options, QUIET_DOWN_MS))
    // All are measured at the same time, because idle processes do not disturb each other.
    return await Promise.all(contestants.map((contestant) => watch(contestant, shortened(options, WINDOW_MS))))
  },
}

async function watch({ name, pid }: EventServer, windowMs: number): Promise<Row> {
  const cpuBefore = cpuMs(pid)
  const before = sleeps(pid)
  await Bun.sleep(windowMs)
  const cpu = cpuMs(pid) - cpuBefore
  const perSecond = [...sleeps(pid)]
    .map(([thread, count]) => ({ thread, rate: ((count - (before.get(thread) ?? 0)) * 1000) / windowMs }))
    .filter(({ rate }) => rate > 0)
    .toSorted((a, b) => b.rate - a.rate)
  return {
    case: name,
    'CPU %': rounded((cpu * 100) / windowMs),
    'wakes/s': rounded(perSecond.reduce((sum, { rate }) => sum + rate, 0)),
    'of these, by thread': perSecond.map(({ thread, rate }) => `${thread} ${rounded(rate)}`).join(', '),
    holds: 'CPU ≤ 1 %',
  }
}
