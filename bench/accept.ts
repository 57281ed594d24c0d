import { type Contest, everybody, hold, onSlowDisks } from './rivals/contest.ts'
import { startProvider } from './rivals/provider-process.ts'
import type { Row } from './row.ts'
import { runLoad } from './support/load.ts'

const DURATION_MS = 3000
/** A server runs for months: what is compiled in its first seconds is not its rate. */
const WARM_UP_MS = 8000
const CONNECTIONS = 64
const PROVIDER_DELAY_MS = 150

const CONTEST: Contest<'accepted/s' | 'p50 ms' | 'p99 ms'> = {
  rounds: 3,
  entries: [...everybody(), ...onSlowDisks],
  figures: ['accepted/s', 'p50 ms', 'p99 ms'],
  decimals: { 'accepted/s': 0, 'p50 ms': 1, 'p99 ms': 1 },
  bars: {
    sgw: '0.35 → 0.50 of floor',
    'Kannel, file store': 'sgw 3 × it',
    'Express + BullMQ + Redis + SQLite': 'sgw 13 × it',
    'sgw, +2 ms a flush': '0.60 → 0.90 of +0 ms',
  },
  /** Everybody starts with an empty store and is ended with its backlog, so that no backlog disturbs the next one. */
  async turn(start) {
    await using provider = await startProvider(PROVIDER_DELAY_MS)
    await using running = await start({ provider })
    const { port, request } = running
    const load = { hostname: '127.0.0.1', port, connections: CONNECTIONS, durationMs: DURATION_MS, request }
    await runLoad({ ...load, durationMs: WARM_UP_MS })
    const { statuses, p50, p99 } = await runLoad(load)
    const accepted = ((statuses['202'] ?? 0) / DURATION_MS) * 1000
    return { 'accepted/s': accepted, 'p50 ms': p50, 'p99 ms': p99 }
  },
}

/** Accepting messages (202) while the provider takes 150 ms an answer. The floors call it too, 64 times at once as sgw does while a crowd is being answered. */
export const benchAccept = (): Promise<Row[]> => hold(CONTEST)
