import type { Row } from '../row.ts'
import { rounded } from '../support/compared.ts'
import { percentile } from '../support/percentile.ts'
import { Connections } from '../support/posts.ts'
import { eventRequest } from '../support/provider-events.ts'
import { type Contestant, type InboundStage, besideFloors, faceToFace } from './contestants.ts'

const ROUNDS = 3
const EVENTS_PER_ROUND = 100
/** Between two events, so that each meets an idle server. */
const PAUSE_MS = 3
const GOAL = 'p50 ≤ 2.5 → 1.6'

/** One event at a time: to its 200, to a WebSocket, to a webhook. */
export async function latencyRows(inbound: InboundStage): Promise<Row[]> {
  const answered = await latencyRow(inbound, 'event → 200, idle', '', [], (contestant, ids) =>
    oneByOne(contestant, ids, null),
  )
  const onSocket = await latencyRow(inbound, 'event → WebSocket, idle', GOAL, [], async (contestant, ids) => {
    using listener = await listen(contestant)
    return await oneByOne(contestant, ids, listener.arrivals)
  })
  const arrivals = new Arrivals()
  await using receiver = startReceiver(arrivals)
  const atWebhook = await latencyRow(inbound, 'event → webhook, idle', GOAL, [receiver.url], (contestant, ids) =>
    oneByOne(contestant, ids, arrivals),
  )
  return [answered, onSocket, atWebhook]
}

async function latencyRow(
  inbound: InboundStage,
  name: string,
  goal: string,
  destinations: readonly string[],
  measure: (contestant: Contestant, ids: number[]) => Promise<number[]>,
): Promise<Row> {
  const all = { floor: [] as number[], durableFloor: [] as number[], sgw: [] as number[] }
  const medians = await faceToFace(inbound, ROUNDS, destinations, async (contestant, side) => {
    const latencies = await measure(contestant, inbound.ids.take(EVENTS_PER_ROUND))
    all[side].push(...latencies)
    return percentile(latencies, 0.5)
  })
  // The first round warmed up.
  return {
    ...besideFloors({ case: name, unit: 'p50 ms', goal }, medians),
    'floor p99 ms': rounded(percentile(all.floor.slice(EVENTS_PER_ROUND), 0.99)),
    'sgw p99 ms': rounded(percentile(all.sgw.slice(EVENTS_PER_ROUND), 0.99)),
  }
}

/** Milliseconds from the POST to the arrival, or to the answer where nothing is to arrive. */
async function oneByOne({ port }: Contestant, ids: readonly number[], arrivals: Arrivals | null): Promise<number[]> {
  using connections = await Connections.open(port, 1)
  const latencies: number[] = []
  for (const id of ids) {
    const startedAt = performance.now()
    const arrived = arrivals?.next()
    const answered = await connections.postAll([eventRequest(id)])
    if (answered.refused > 0) throw new Error('An event was refused')
    latencies.push(arrived === undefined ? (answered.latencies[0] ?? 0) : (await arrived) - startedAt)
    await Bun.sleep(PAUSE_MS)
  }
  return latencies
}

/** One arrival is waited for at a time. */
class Arrivals {
  #waiting: ((at: number) => void) | null = null

  next(): Promise<number> {
    return new Promise((resolve) => (this.#waiting = resolve))
  }

  came(): void {
    this.#waiting?.(performance.now())
  }
}

async function listen({ port, key }: Contestant): Promise<{ arrivals: Arrivals } & Disposable> {
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
