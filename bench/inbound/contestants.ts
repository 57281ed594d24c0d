import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchOptions, Row } from '../bench.ts'
import type { BenchGateway } from '../gateway/bench-gateway.ts'
import { OURS } from '../gateway/source.ts'
import { alternate } from '../support/alternate.ts'
import { type Child, startChild } from '../support/child.ts'
import { rounded } from '../support/rounded.ts'
import { type ProviderEvents, floorEvents, openEventGateway } from '../support/provider-events.ts'

/** A server that receives provider events: a gateway or a floor. */
export interface EventServer {
  name: string
  port: number
  pid: number
  /** The key with which its WebSockets authenticate. */
  key: string
  events: ProviderEvents
  /** Resolves when it has nothing left to do. */
  rest(): Promise<unknown>
}

export interface InboundStage {
  options: BenchOptions
  /** The working copy first. */
  gateways: readonly { gateway: BenchGateway; events: ProviderEvents }[]
}

export const FLOOR = 'floor'
/** Commits with raw libSQL and a flush, and POSTs with the gateway's HTTP client. */
const DURABLE_FLOOR = 'floor, raw libSQL'
/** A floor keeps posting webhooks after its last answer, which would slow down the next contestant. */
const FLOOR_REST_MS = 2000

export async function openInboundStage(options: BenchOptions, stack: AsyncDisposableStack): Promise<InboundStage> {
  const gateways = []
  for (const source of options.sources) {
    const opened = await openEventGateway(source)
    stack.use(opened.gateway)
    gateways.push(opened)
  }
  return { options, gateways }
}

export const gatewaysOf = ({ gateways }: InboundStage): EventServer[] =>
  gateways.map(({ gateway, events }) => ({
    name: gateway.source.label,
    port: gateway.port,
    pid: gateway.pid,
    key: gateway.key,
    events,
    rest: () => gateway.drained(),
  }))

export const floorOf = (child: Child, name = FLOOR): EventServer => ({
  name,
  port: Number(child.ready),
  pid: child.pid,
  key: 'none',
  events: floorEvents(),
  rest: () => Bun.sleep(FLOOR_REST_MS),
})

/** Measures the contestants in turn, on fresh floors that POST to `destinations` as the tenants' triggers do. */
export async function measureInTurn(
  inbound: InboundStage,
  destinations: readonly string[],
  measure: (contestant: EventServer) => Promise<number>,
): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-floor-'))
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  using floor = await startChild('event-floor.ts', ['fetch', '', ...destinations])
  using durable = await startChild('event-floor.ts', ['sgw', join(folder, 'floor.db'), ...destinations])
  await using stack = new AsyncDisposableStack()
  for (const { gateway } of inbound.gateways) stack.use(await openTriggers(gateway, destinations))
  const contestants = [floorOf(floor), floorOf(durable, DURABLE_FLOOR), ...gatewaysOf(inbound)]
  const turn = (contestant: EventServer) => async (): Promise<number> => {
    const figure = await measure(contestant)
    await contestant.rest()
    return figure
  }
  // The first turn is not counted, because code that has never run is slower.
  for (const contestant of contestants) await turn(contestant)()
  const turns = Object.fromEntries(contestants.map((contestant) => [contestant.name, turn(contestant)]))
  return await alternate(inbound.options.rounds, turns)
}

export interface CaseRow {
  case: string
  unit: string
  /** The bound for our figure; empty if there is none. */
  holds: string
}

/** Puts the figures of all contestants in one row, and ours divided by each of the others. */
export function besideOurs(row: CaseRow, figures: Readonly<Record<string, number>>): Row {
  const ours = figures[OURS.label] ?? Number.NaN
  const others = Object.entries(figures).filter(([name]) => name !== OURS.label)
  return {
    case: row.case,
    unit: row.unit,
    ...Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, rounded(figure)])),
    ...Object.fromEntries(others.map(([name, figure]) => [`${OURS.label} ÷ ${name}`, (ours / figure).toFixed(2)])),
    holds: row.holds,
  }
}

async function openTriggers(gateway: BenchGateway, urls: readonly string[]): Promise<AsyncDisposable> {
  const triggers = await Promise.all(
    urls.map((callbackUrl) => gateway.call<{ triggerId: string }>('POST', '/v1/triggers', { callbackUrl })),
  )
  return {
    async [Symbol.asyncDispose]() {
      for (const { triggerId } of triggers) await gateway.call('DELETE', `/v1/triggers/${triggerId}`)
    },
  }
}
