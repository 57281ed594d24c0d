import { seededRandom } from '../../src/simulator/random.ts'
import type { Row } from '../bench.ts'
import { startChild } from '../support/child.ts'
import { Connections } from '../support/posts.ts'
import { type EventServer, type InboundStage, besideOurs, measureInTurn } from './contestants.ts'

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
  const measure = async ({ port, events }: EventServer): Promise<number> => {
    using connections = await Connections.open(port, count)
    const requests = withDuplicates(events.take(EVENTS - DUPLICATES)).map((id) => events.request(id))
    const startedAt = performance.now()
    const { refused } = await connections.postAll(requests)
    if (refused > 0) throw new Error(`${refused} events were refused`)
    return (EVENTS * 1000) / (performance.now() - startedAt)
  }
  const figures = await measureInTurn(inbound, destinations, measure)
  const name = `burst of ${EVENTS}, ${count} at once, 1 webhook`
  return besideOurs({ case: name, unit: 'events/s', holds: '' }, figures)
}

function withDuplicates(distinct: readonly number[]): number[] {
  const random = seededRandom(distinct[0] ?? 0)
  const copies = Array.from({ length: DUPLICATES }, () => distinct[Math.floor(random() * distinct.length)] ?? 0)
  return [...distinct, ...copies]
    .map((id) => ({ id, position: random() }))
    .toSorted((a, b) => a.position - b.position)
    .map(({ id }) => id)
}
