import { seededRandom } from '../../src/simulator/random.ts'
import type { Row } from '../row.ts'
import { startChild } from '../support/child.ts'
import { rounded } from '../support/compared.ts'
import { percentile } from '../support/percentile.ts'
import { Connections } from '../support/posts.ts'
import { eventRequest } from '../support/provider-events.ts'
import { type Contestant, type InboundStage, type Side, besideFloors, faceToFace } from './contestants.ts'

const ROUNDS = 3
const EVENTS = 1000
const DUPLICATES = 300
const CONNECTIONS = [64, 256] as const

/** Bursts of 1,000 events with 30 % duplicates, shuffled, each fanned out to a webhook. */
export async function burstRows(inbound: InboundStage): Promise<Row[]> {
  using receivers = await startChild('receivers.ts')
  const rows: Row[] = []
  for (const connections of CONNECTIONS) rows.push(await burstRow(inbound, connections, receivers.ready as string[]))
  return rows
}

async function burstRow(inbound: InboundStage, count: number, destinations: readonly string[]): Promise<Row> {
  const latencies = { floor: [] as number[], durableFloor: [] as number[], sgw: [] as number[] }
  let refusals = 0
  const measure = async ({ port }: Contestant, side: Side): Promise<number> => {
    using connections = await Connections.open(port, count)
    const requests = withDuplicates(inbound.ids.take(EVENTS - DUPLICATES)).map((id) => eventRequest(id))
    const startedAt = performance.now()
    const answered = await connections.postAll(requests)
    const seconds = (performance.now() - startedAt) / 1000
    latencies[side].push(...answered.latencies)
    refusals += answered.refused
    return EVENTS / seconds
  }
  const figures = await faceToFace(inbound, ROUNDS, destinations, measure)
  // The first round warmed up.
  return {
    ...besideFloors({ case: `burst of ${EVENTS}, ${count} at once, 1 webhook`, unit: 'events/s', goal: '' }, figures),
    'floor p99 ms': rounded(percentile(latencies.floor.slice(EVENTS), 0.99)),
    'sgw p99 ms': rounded(percentile(latencies.sgw.slice(EVENTS), 0.99)),
    refused: refusals,
  }
}

function withDuplicates(distinct: readonly number[]): number[] {
  const random = seededRandom(distinct[0] ?? 0)
  const copies = Array.from({ length: DUPLICATES }, () => distinct[Math.floor(random() * distinct.length)] ?? 0)
  return [...distinct, ...copies]
    .map((id) => ({ id, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ id }) => id)
}
