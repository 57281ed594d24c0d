import { type Row, shortened } from '../bench.ts'
import { OURS } from '../gateway/source.ts'
import { rounded } from '../support/rounded.ts'
import { percentile } from '../support/percentile.ts'
import { Connections } from '../support/posts.ts'
import { type EventServer, type InboundStage, besideOurs, measureInTurn } from './contestants.ts'

const EVENTS_PER_ROUND = 100
/** The pause between two events, so that each one finds an idle server. */
const PAUSE_MS = 3
const SOCKET_HOLDS = '≤ 2 of raw libSQL'
const WEBHOOK_HOLDS = '≤ 3.2 of raw libSQL'

/** The latency of single events: to the 200, to a WebSocket, to a webhook. */
export async function latencyRows(inbound: InboundStage): Promise<Row[]> {
  const answered = await latencyRow(
    inbound,
    { name: 'event → 200, idle', holds: '', destinations: [] },
    (contestant, ids) => oneByOne(contestant, ids, null),
  )
  const onSocket = await latencyRow(
    inbound,
    { name: 'event → WebSocket, idle', holds: SOCKET_HOLDS, destinations: [] },
    async (contestant, ids) => {
      using listener = await listen(contestant)
      return await oneByOne(contestant, ids, listener.arrivals)
    },
  )
  const arrivals = new Arrivals()
  await using receiver = startReceiver(arrivals)
  const atWebhook = await latencyRow(
    inbound,
    { name: 'event → webhook, idle', holds: WEBHOOK_HOLDS, destinations: [receiver.url] },
    (contestant, ids) => oneByOne(contestant, ids, arrivals),
  )
  return [answered, onSocket, atWebhook]
}

interface LatencyCase {
  name: string
  holds: string
  destinations: readonly string[]
}

async function latencyRow(
  inbound: InboundStage,
  { name, holds, destinations }: LatencyCase,
  measure: (contestant: EventServer, ids: number[]) => Promise<number[]>,
): Promise<Row> {
  const count = shortened(inbound.options, EVENTS_PER_ROUND)
  const ours: number[] = []
  const medians = await measureInTurn(inbound, destinations, async (contestant) => {
    const latencies = await measure(contestant, contestant.events.take(count))
    if (contestant.name === OURS.label) ours.push(...latencies)
    return percentile(latencies, 0.5)
  })
  // The first round was the warm-up.
  const p99 = rounded(percentile(ours.slice(count), 0.99))
  return { ...besideOurs({ case: name, unit: 'p50 ms', holds }, medians), [`${OURS.label} p99 ms`]: p99 }
}

/** Milliseconds from the POST to the arrival, or to the answer if there is nothing to arrive. */
async function oneByOne(
  { port, events }: EventServer,
  ids: readonly number[],
  arrivals: Arrivals | null,
): Promise<number[]> {
  using connections = await Connections.open(port, 1)
  const latencies: number[] = []
  for (const id of ids) {
    const startedAt = performance.now()
    const arrived = arrivals?.next()
    const answered = await connections.postAll([events.request(id)])
    if (answered.refused > 0) throw new Error('An event was refused')
    latencies.push(arrived === undefined ? (answered.latencies[0] ?? 0) : (await arrived) - startedAt)
    await Bun.sleep(PAUSE_MS)
  }
  return latencies
}

/** At most one caller waits for an arrival at a time. */
class Arrivals {
  #waiting: ((at: number) => void) | null = null

  next(): Promise<number> {
    return new Promise((resolve) => (this.#waiting = resolve))
  }

  came(): void {
    this.#waiting?.(performance.now())
  }
}

async function listen({ port, key }: EventServer): Promise<{ arrivals: Arrivals } & Disposable> {
  const arrivals = new Arrivals()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', apiKey: key })))
  socket.addEventListener('message', () => arrivals.came())
  // The first message is `auth_ok`.
  await arrivals.next()
  return { arrivals, [Symbol.dispose]: () => socket.terminate() }
}

function startReceiver(arrivals: Arrivals): { url: string } & AsyncDisposable {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      arrivals.came()
      return new Response(null)
    },
  })
  return { url: `http://127.0.0.1:${server.port}/hook`, [Symbol.asyncDispose]: () => server.stop(true) }
}
