import type { Row } from '../row.ts'
import { startChild, sharedNow } from '../support/child.ts'
import { runLoad } from '../support/load.ts'
import { Connections } from '../support/posts.ts'
import { eventRequest } from '../support/provider-events.ts'
import { type Contestant, type InboundStage, besideFloors, faceToFace } from './contestants.ts'

const ROUNDS = 3
const CONNECTIONS = 64
const DURATION_MS = 3000
/** Destinations, and events of a round. */
const DELIVERIES = [
  { destinations: 1, events: 500, goal: '' },
  { destinations: 10, events: 200, goal: '≥ 0.8 → 0.95' },
] as const

/** As many events as 64 connections can bring, one WebSocket listening; then as many deliveries as there can be. */
export async function floodRows(inbound: InboundStage): Promise<Row[]> {
  const rows = [await floodRow(inbound)]
  for (const { destinations, events, goal } of DELIVERIES)
    rows.push(await deliveriesRow(inbound, destinations, events, goal))
  return rows
}

async function floodRow(inbound: InboundStage): Promise<Row> {
  const [first = 0] = inbound.ids.take(10_000_000)
  let sent = 0
  const measure = async ({ port, key }: Contestant): Promise<number> => {
    using clients = await startChild('socket-clients.ts')
    await clients.ask({ open: { port, count: 1, keys: [key] } })
    const request = (): string => eventRequest(first + sent++)
    const load = { hostname: '127.0.0.1', port, connections: CONNECTIONS, durationMs: DURATION_MS, request }
    const { requestsPerSecond, statuses } = await runLoad(load)
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error('An event was refused')
    return requestsPerSecond
  }
  const figures = await faceToFace(inbound, ROUNDS, [], measure)
  const name = `flooded by ${CONNECTIONS} connections, 1 WebSocket`
  return besideFloors({ case: name, unit: 'events/s', goal: '≥ 0.5' }, figures)
}

async function deliveriesRow(inbound: InboundStage, count: number, events: number, goal: string): Promise<Row> {
  using receivers = await startChild('receivers.ts', [String(count)])
  const measure = async ({ port }: Contestant): Promise<number> => {
    using connections = await Connections.open(port, CONNECTIONS)
    const requests = inbound.ids.take(events).map((id) => eventRequest(id))
    const startedAt = sharedNow()
    const arrived = receivers.ask<{ at: number }>({ expect: events * count })
    await connections.postAll(requests)
    return (events * count * 1000) / ((await arrived).at - startedAt)
  }
  const destinations = receivers.ready as string[]
  const figures = await faceToFace(inbound, ROUNDS, destinations, measure)
  const name = `${count} destination${count === 1 ? '' : 's'}, ${events} events at once`
  return besideFloors({ case: name, unit: 'deliveries/s', goal }, figures)
}
