import { MAX_SOCKETS_PER_APP } from '../src/core/limits.ts'
import type { Bench, Row } from './bench.ts'
import type { BenchGateway } from './gateway/bench-gateway.ts'
import { type EventServer, besideOurs, floorOf, gatewaysOf, openInboundStage } from './inbound/contestants.ts'
import { alternate, median } from './support/alternate.ts'
import { type Child, sharedNow, startChild } from './support/child.ts'
import { Connections } from './support/posts.ts'
import { cpuMs, rssMib } from './support/process-figures.ts'
import { rounded } from './support/rounded.ts'

const SOCKETS = 1000
const BURSTS_PER_ROUND = 20
const BURST_SIZES = [1, 10, 100] as const
const QUIET_DOWN_MS = 2000
const PUBLISH = 'server.publish alone'

/** A contestant with its 1,000 sockets, which a process of their own holds. */
interface Audience {
  name: string
  contestant: EventServer
  clients: Child
  /** KiB per socket. */
  memory: number
  /** The requests of a burst of `size` events. */
  burst(size: number): string[]
}

/**
 * Bursts of inbound events to 1,000 WebSockets of one tenant. The gateway is compared with a bare server that gets the
 * same events and publishes the same frames, and with `server.publish` alone. The next burst follows when every frame has
 * arrived.
 */
export const fanOut: Bench = {
  name: 'fan-out',
  async run(options) {
    await using stack = new AsyncDisposableStack()
    const inbound = await openInboundStage(options, stack)
    const bare = stack.use(await startChild('event-floor.ts', ['fetch']))
    const floor = await gather(floorOf(bare), ['none'], stack)
    const publish = { ...floor, name: PUBLISH, burst: (size: number) => publishing(floor.contestant, size) }
    const audiences = [floor, publish]
    for (const [index, contestant] of gatewaysOf(inbound).entries())
      audiences.push(await gather(contestant, await keysOf(inbound.gateways[index]?.gateway), stack))
    const rows: Row[] = []
    for (const size of BURST_SIZES) rows.push(...(await burstRows(audiences, size, options.rounds)))
    const memory = audiences.filter(({ name }) => name !== PUBLISH).map(({ name, memory: kib }) => [name, kib] as const)
    const row = { case: `${SOCKETS} sockets: RSS a socket`, unit: 'KiB', holds: '' }
    return [...rows, besideOurs(row, Object.fromEntries(memory))]
  },
}

/** An app may have 200 sockets, so several apps share them. */
async function keysOf(gateway: BenchGateway | undefined): Promise<string[]> {
  if (gateway === undefined) return []
  const names = Array.from({ length: Math.ceil(SOCKETS / MAX_SOCKETS_PER_APP) }, (_, index) => `Listeners ${index}`)
  const register = (name: string): Promise<{ apiKey: string }> =>
    gateway.call('POST', '/v1/apps/register', { name, tenantId: gateway.tenantId })
  return (await Promise.all(names.map(register))).map((app) => app.apiKey)
}

async function gather(
  contestant: EventServer,
  keys: readonly string[],
  stack: AsyncDisposableStack,
): Promise<Audience> {
  await warmUp(contestant, keys)
  const before = rssMib(contestant.pid)
  const clients = stack.use(await startChild('socket-clients.ts'))
  await clients.ask({ open: { port: contestant.port, count: SOCKETS, keys } })
  await Bun.sleep(QUIET_DOWN_MS)
  const memory = ((rssMib(contestant.pid) - before) * 1024) / SOCKETS
  return { name: contestant.name, contestant, clients, memory, burst: (size) => contestant.events.requests(size) }
}

/** The first sockets and events load and compile code, which must not count as memory of the measured sockets. */
async function warmUp(contestant: EventServer, keys: readonly string[]): Promise<void> {
  using clients = await startChild('socket-clients.ts')
  await clients.ask({ open: { port: contestant.port, count: 50, keys } })
  using connections = await Connections.open(contestant.port, 10)
  await connections.postAll(contestant.events.requests(300))
  await contestant.rest()
  await Bun.sleep(QUIET_DOWN_MS)
}

/** One request that makes the floor publish `size` events in one turn. */
const publishing = ({ events }: EventServer, size: number): string[] => events.requests(1, `/publish/${size}`)

/** Figures of one round. Times in milliseconds. */
interface Round {
  deliveriesPerSecond: number
  /** From the first arriving frame of a burst to the last one: the fan-out alone. */
  spreadMs: number
  cpuUsPerDelivery: number
}

async function burstRows(audiences: readonly Audience[], size: number, rounds: number): Promise<Row[]> {
  const played = new Map<string, Round[]>(audiences.map(({ name }) => [name, []]))
  const turn = (audience: Audience) => async (): Promise<number> => {
    const round = await playRound(audience, size)
    played.get(audience.name)?.push(round)
    await audience.contestant.rest()
    return round.deliveriesPerSecond
  }
  const turns = Object.fromEntries(audiences.map((audience) => [audience.name, turn(audience)]))
  const rates = await alternate(rounds, turns)
  const all = (pick: (round: Round) => number): Record<string, number> =>
    Object.fromEntries([...played].map(([name, seen]) => [name, median(seen.map(pick))]))
  const cpu = Object.entries(all((round) => round.cpuUsPerDelivery)).map(([name, us]) => [
    `${name} CPU µs`,
    rounded(us),
  ])
  const whole = { case: `bursts of ${size}: first POST → last frame`, unit: 'deliveries/s', holds: '' }
  const spread = { case: `bursts of ${size}: first → last frame`, unit: 'deliveries/s', holds: `≥ 0.90 of ${PUBLISH}` }
  return [
    { ...besideOurs(whole, rates), ...Object.fromEntries(cpu) },
    besideOurs(
      spread,
      all((round) => (size * SOCKETS * 1000) / round.spreadMs),
    ),
  ]
}

async function playRound({ contestant, clients, burst }: Audience, size: number): Promise<Round> {
  const { pid } = contestant
  using connections = await Connections.open(contestant.port, size)
  const spreads: number[] = []
  const cpuBefore = cpuMs(pid)
  let tookMs = 0
  for (let turn = 0; turn < BURSTS_PER_ROUND; turn++) {
    const arrival = clients.ask<{ firstAt: number; at: number }>({ expect: size * SOCKETS })
    // The process is stopped while the burst is written, so that the burst arrives at once and is stored in one commit.
    process.kill(pid, 'SIGSTOP')
    const answered = connections.postAll(burst(size))
    const startedAt = sharedNow()
    process.kill(pid, 'SIGCONT')
    await answered
    const { firstAt, at } = await arrival
    spreads.push(at - firstAt)
    tookMs += at - startedAt
  }
  const deliveries = size * SOCKETS * BURSTS_PER_ROUND
  return {
    deliveriesPerSecond: (deliveries * 1000) / tookMs,
    spreadMs: median(spreads),
    cpuUsPerDelivery: ((cpuMs(pid) - cpuBefore) * 1000) / deliveries,
  }
}
