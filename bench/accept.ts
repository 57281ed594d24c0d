import { type Bench, shortened } from './bench.ts'
import { allContestants, onSlowDisks, runContest } from './rivals/contest.ts'
import { startProvider } from './rivals/provider-process.ts'
import { runLoad } from './support/load.ts'

const DURATION_MS = 3000
/** A server in production has compiled its hot code. The first seconds after a start are slower. */
const WARM_UP_MS = 8000
const CONNECTIONS = 64
const PROVIDER_DELAY_MS = 150

/** The rate of accepted messages (202) while the provider takes 150 ms per answer. */
export const accept: Bench = {
  name: 'accept',
  run: (options) =>
    runContest(options, {
      entries: [...allContestants(options.sources), ...onSlowDisks(options.sources)],
      figures: ['accepted/s', 'p50 ms', 'p99 ms'],
      decimals: { 'accepted/s': 0, 'p50 ms': 1, 'p99 ms': 1 },
      holds: { 'floor, raw libSQL': '≥ 0.28', 'Kannel, file store': '≥ 1.3' },
      /** Each turn starts a contestant with an empty store, so that the backlog of one turn does not disturb the next. */
      async turn(start) {
        await using provider = await startProvider(PROVIDER_DELAY_MS)
        await using running = await start({ provider })
        const { port, request } = running
        const load = { hostname: '127.0.0.1', port, connections: CONNECTIONS, request }
        await runLoad({ ...load, durationMs: shortened(options, WARM_UP_MS) })
        const durationMs = shortened(options, DURATION_MS)
        const { statuses, p50, p99 } = await runLoad({ ...load, durationMs })
        return { 'accepted/s': ((statuses['202'] ?? 0) / durationMs) * 1000, 'p50 ms': p50, 'p99 ms': p99 }
      },
    }),
}
