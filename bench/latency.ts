import { type Contest, everybody, hold } from './rivals/contest.ts'
import { allSent, load } from './rivals/load.ts'
import { LeanProvider } from './rivals/provider.ts'
import { inThisProcess } from './rivals/provider-process.ts'
import type { Row } from './row.ts'

const MESSAGES = 500
/** A server runs for months: what is compiled in its first seconds is not its latency. */
const WARM_UP_MS = 8000
const WARM_UP_CONNECTIONS = 8
/** The first ones after that find out that nothing else comes. */
const FIRST_ONES = 50
/** What follows a message (its result is stored, events are published) is over before the next one. */
const PAUSE_MS = 15
const GIVE_UP_MS = 5000

const CONTEST: Contest<'p50 ms' | 'p99 ms'> = {
  rounds: 3,
  entries: everybody(),
  figures: ['p50 ms', 'p99 ms'],
  decimals: { 'p50 ms': 2, 'p99 ms': 2 },
  bars: {
    sgw: '1.6 → 1.1 of floor',
    'Express + BullMQ + Redis + SQLite': 'sgw 0.50 → 0.35 × it',
  },
  async turn(start) {
    const calls = new Arrivals()
    await using provider = new LeanProvider(0, () => calls.arrived())
    const handle = inThisProcess(provider)
    await using running = await start({ provider: handle })
    const { accepted } = await load(running, WARM_UP_CONNECTIONS, WARM_UP_MS)
    await allSent(running, handle, accepted)
    const latencies = await oneByOne(running.port, running.request, calls)
    const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
    return { 'p50 ms': at(0.5), 'p99 ms': at(0.99) }
  },
}

/**
 * From the request to the call that arrives at the provider, one message at a time on an idle machine, after a warm-up. Load and
 * provider are one process here, so that one clock measures both ends.
 */
export const benchLatency = (): Promise<Row[]> => hold(CONTEST)

/** The moment of the next call of the provider. */
class Arrivals {
  #next = Promise.withResolvers<number>()

  arrived(): void {
    this.#next.resolve(performance.now())
  }

  next(): Promise<number> {
    this.#next = Promise.withResolvers<number>()
    return this.#next.promise
  }
}

/** Sorted milliseconds. */
async function oneByOne(port: number, request: (n: number) => string, calls: Arrivals): Promise<number[]> {
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  const latencies: number[] = []
  for (let n = 0; n < FIRST_ONES + MESSAGES; n++) {
    const bytes = request(n)
    const call = calls.next()
    const sentAt = performance.now()
    socket.write(bytes)
    const arrivedAt = await within(call)
    if (n >= FIRST_ONES) latencies.push(arrivedAt - sentAt)
    await Bun.sleep(PAUSE_MS)
  }
  socket.end()
  return latencies.toSorted((a, b) => a - b)
}

async function within(call: Promise<number>): Promise<number> {
  const giveUp = Promise.withResolvers<never>()
  const timer = setTimeout(() => giveUp.reject(new Error(`No call within ${GIVE_UP_MS} ms`)), GIVE_UP_MS)
  try {
    return await Promise.race([call, giveUp.promise])
  } finally {
    clearTimeout(timer)
  }
}
