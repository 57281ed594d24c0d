import { type Contestant, type InboundStage, floorOf, gatewayOf, openInboundStage } from './inbound/contestants.ts'
import type { Row } from './row.ts'
import { alternate, median } from './support/alternate.ts'
import { type Child, sharedNow, startChild } from './support/child.ts'
import { compared, rounded } from './support/compared.ts'
import { Connections } from './support/posts.ts'
import { cpuMs, rssMib } from './support/process-figures.ts'
import { EventIds, eventRequest } from './support/provider-events.ts'
import { MAX_SOCKETS_PER_APP } from '../src/core/limits.ts'

const SOCKETS = 1000
const ROUNDS = 3
const BURSTS_PER_ROUND = 20
const BURST_SIZES = [1, 10, 100] as const
const SETTLE_MS = 2000

/** A contestant with its 1,000 sockets, which live in a process of their own. */
interface Audience {
  contestant: Contestant
  pid: number
  clients: Child
  /** KiB a socket. */
  memory: number
}

/**
 * Bursts of inbound events to 1,000 WebSockets of one tenant, against a bare server that gets the same events and
 * publishes the same frames, and against `server.publish` alone. The next burst follows when every frame has come.
 */
async function benchFanOut(): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const inbound = await openInboundStage(new EventIds(), stack)
  const floor = stack.use(await startChild('event-floor.ts', ['fetch']))
  const audiences = {
    floor: await gather(floorOf(floor), floor.pid, ['none'], inbound.ids, stack),
    sgw: await gather(gatewayOf(inbound), inbound.stage.gateway.pid ?? 0, await keysOf(inbound), inbound.ids, stack),
  }
  const rows: Row[] = []
  for (const size of BURST_SIZES) rows.push(...(await burstRows(audiences, inbound.ids, size)))
  const memory = { floor: audiences.floor.memory, sgw: audiences.sgw.memory, goal: '≤ 16 → 10 KiB' }
  return [...rows, compared({ case: `${SOCKETS} sockets: RSS a socket`, unit: 'KiB', ...memory })]
}

/** An app may have 200 sockets. */
async function keysOf({ stage, tenantId }: InboundStage): Promise<string[]> {
  const names = Array.from({ length: Math.ceil(SOCKETS / MAX_SOCKETS_PER_APP) }, (_, index) => `Listeners ${index}`)
  const apps = names.map((name) => stage.gateway.command<{ apiKey: string }>('app-create', { tenantId, name }))
  return (await Promise.all(apps)).map((app) => app.apiKey)
}

async function gather(
  contestant: Contestant,
  pid: number,
  keys: readonly string[],
  ids: EventIds,
  stack: AsyncDisposableStack,
): Promise<Audience> {
  await warmUp(contestant, keys, ids)
  const before = rssMib(pid)
  const clients = stack.use(await startChild('socket-clients.ts'))
  await clients.ask({ open: { port: contestant.port, count: SOCKETS, keys } })
  await Bun.sleep(SETTLE_MS)
  return { contestant, pid, clients, memory: ((rssMib(pid) - before) * 1024) / SOCKETS }
}

/** What the first sockets and events load and compile is not the memory of the others. */
async function warmUp(contestant: Contestant, keys: readonly string[], ids: EventIds): Promise<void> {
  using clients = await startChild('socket-clients.ts')
  await clients.ask({ open: { port: contestant.port, count: 50, keys } })
  using connections = await Connections.open(contestant.port, 10)
  await connections.postAll(ids.take(300).map((id) => eventRequest(id)))
  await contestant.rest()
  await Bun.sleep(SETTLE_MS)
}

/** Figures of one round. Times in milliseconds. */
interface Round {
  deliveriesPerSecond: number
  /** From the first frame of a burst that comes anywhere to its last one: nothing but the fan-out. */
  spreadMs: number
  cpuUsPerDelivery: number
}

type Side = 'floor' | 'sgw' | 'publish'

async function burstRows(audiences: Record<'floor' | 'sgw', Audience>, ids: EventIds, size: number): Promise<Row[]> {
  const rounds: Record<Side, Round[]> = { floor: [], sgw: [], publish: [] }
  const turn = (side: Side) => async (): Promise<number> => {
    const audience = side === 'sgw' ? audiences.sgw : audiences.floor
    const round = await playRound(audience, size, () => burstOf(ids, size, side === 'publish'))
    rounds[side].push(round)
    await audience.contestant.rest()
    return round.deliveriesPerSecond
  }
  const rates = await alternate(ROUNDS, { floor: turn('floor'), sgw: turn('sgw'), publish: turn('publish') })
  const middle = (side: Side, pick: (round: Round) => number): number => rounded(median(rounds[side].map(pick)))
  const spreadRate = (side: Side): number => (size * SOCKETS * 1000) / middle(side, (round) => round.spreadMs)
  return [
    {
      ...compared({ case: `bursts of ${size}: first POST → last frame`, unit: 'deliveries/s', ...rates, goal: '' }),
      'floor CPU µs': middle('floor', (round) => round.cpuUsPerDelivery),
      'sgw CPU µs': middle('sgw', (round) => round.cpuUsPerDelivery),
    },
    compared({
      case: `bursts of ${size}: first → last frame, against server.publish alone`,
      unit: 'deliveries/s',
      floor: spreadRate('publish'),
      sgw: spreadRate('sgw'),
      goal: '≥ 0.90',
    }),
  ]
}

const burstOf = (ids: EventIds, size: number, alone: boolean): string[] =>
  alone ? ids.take(1).map((id) => eventRequest(id, `/publish/${size}`)) : ids.take(size).map((id) => eventRequest(id))

async function playRound(audience: Audience, size: number, burst: () => string[]): Promise<Round> {
  const { contestant, clients, pid } = audience
  using connections = await Connections.open(contestant.port, size)
  const spreads: number[] = []
  const cpuBefore = cpuMs(pid)
  let tookMs = 0
  for (let turn = 0; turn < BURSTS_PER_ROUND; turn++) {
    const heard = clients.ask<{ firstAt: number; at: number }>({ expect: size * SOCKETS })
    // Held while the burst is written, so that it comes as one: what comes together is stored in one commit.
    process.kill(pid, 'SIGSTOP')
    const answered = connections.postAll(burst())
    const startedAt = sharedNow()
    process.kill(pid, 'SIGCONT')
    await answered
    const { firstAt, at } = await heard
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

export default { name: 'fan-out', run: benchFanOut }

if (import.meta.main) console.table(await benchFanOut())
