import { type Bench, shortened } from './bench.ts'
import { allContestants, runContest } from './rivals/contest.ts'
import type { Running } from './rivals/contestant.ts'
import { allSent, load } from './rivals/load.ts'
import { LeanProvider } from './rivals/provider.ts'
import { inThisProcess } from './rivals/provider-process.ts'
import { percentile } from './support/percentile.ts'

const MESSAGES = 500
/** A server in production has compiled its hot code. The first seconds after a start are slower. */
const WARM_UP_MS = 8000
const WARM_UP_CONNECTIONS = 8
/** The first messages are not counted, because the gateway has to adapt from load to idleness. */
const FIRST_ONES = 50
/** Long enough to store the result of a message and publish its events, so that the next message finds an idle server. */
const PAUSE_MS = 15
const GIVE_UP_MS = 5000

/**
 * The time from the request to the arrival of the call at the provider, one message at a time on an idle machine, after a
 * warm-up. Load and provider are one process, so that one clock measures both ends.
 */
export const latency: Bench = {
  name: 'latency',
  run: (options) =>
    runContest(options, {
      entries: allContestants(options.sources),
      figures: ['p50 ms', 'p99 ms'],
      decimals: { 'p50 ms': 2, 'p99 ms': 2 },
      holds: { 'floor, raw libSQL': '≤ 2', 'Express + BullMQ + Redis + SQLite': '≤ 0.45' },
      async turn(start) {
        const calls = new Arrivals()
        await using provider = new LeanProvider(0, () => calls.arrived())
        const handle = inThisProcess(provider)
        await using running = await start({ provider: handle })
        const { accepted } = await load(running, WARM_UP_CONNECTIONS, shortened(options, WARM_UP_MS))
        await allSent(running, handle, accepted)
        const latencies = await oneByOne(running, calls, shortened(options, MESSAGES))
        return { 'p50 ms': percentile(latencies, 0.5), 'p99 ms': percentile(latencies, 0.99) }
      },
    }),
}

/** Reports the time of the next call to the provider. */
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

/** Returns the milliseconds of each message. */
async function oneByOne({ port, request }: Running, calls: Arrivals, count: number): Promise<number[]> {
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  const latencies: number[] = []
  for (let n = 0; n < FIRST_ONES + count; n++) {
    const bytes = request()
    const call = calls.next()
    const sentAt = performance.now()
    socket.write(bytes)
    const arrivedAt = await within(call)
    if (n >= FIRST_ONES) latencies.push(arrivedAt - sentAt)
    await Bun.sleep(PAUSE_MS)
  }
  socket.end()
  return latencies
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
