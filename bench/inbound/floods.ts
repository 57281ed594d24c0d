import { type Row, shortened } from '../bench.ts'
import { startChild, sharedNow } from '../support/child.ts'
import { runLoad } from '../support/load.ts'
import { Connections } from '../support/posts.ts'
import { type EventServer, type InboundStage, besideOurs, measureInTurn } from './contestants.ts'

const CONNECTIONS = 64
const DURATION_MS = 3000
/** The number of destinations, and of events in a round. */
const DELIVERIES = [
  { destinations: 1, events: 500 },
  { destinations: 10, events: 200 },
] as const

/** The highest rate of events over 64 connections with one open WebSocket, and the highest rate of deliveries. */
export async function floodRows(inbound: InboundStage): Promise<Row[]> {
  const rows = [await floodRow(inbound)]
  for (const { destinations, events } of DELIVERIES) rows.push(await deliveriesRow(inbound, destinations, events))
  return rows
}

async function floodRow(inbound: InboundStage): Promise<Row> {
  const durationMs = shortened(inbound.options, DURATION_MS)
  const measure = async ({ port, key, events }: EventServer): Promise<number> => {
    using clients = await startChild('socket-clients.ts')
    await clients.ask({ open: { port, count: 1, keys: [key] } })
    const request = (): string => events.requests(1).join('')
    const load = { hostname: '127.0.0.1', port, connections: CONNECTIONS, durationMs, request }
    const { requestsPerSecond, statuses } = await runLoad(load)
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error('An event was refused')
    return requestsPerSecond
  }
  const figures = await measureInTurn(inbound, [], measure)
  const name = `flooded by ${CONNECTIONS} connections, 1 WebSocket`
  return besideOurs({ case: name, unit: 'events/s', holds: '≥ 0.42 of raw libSQL' }, figures)
}

async function deliveriesRow(inbound: InboundStage, count: number, eventCount: number): Promise<Row> {
  using receivers = await startChild('receivers.ts', [String(count)])
  const measure = async ({ port, events }: EventServer): Promise<number> => {
    using connections = await Connections.open(port, CONNECTIONS)
    const requests = events.requests(eventCount)
    const startedAt = sharedNow()
    const arrived = receivers.ask<{ at: number }>({ expect: eventCount * count })
    await connections.postAll(requests)
    return (eventCount * count * 1000) / ((await arrived).at - startedAt)
  }
  const figures = await measureInTurn(inbound, receivers.ready as string[], measure)
  const name = `${count} destination${count === 1 ? '' : 's'}, ${eventCount} events at once`
  return besideOurs({ case: name, unit: 'deliveries/s', holds: '' }, figures)
}
