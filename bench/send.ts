import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { compareCommits } from './commits/compare.ts'
import { sendPath } from './commits/send.ts'
import { OURS } from './gateway/source.ts'
import { type Contest, allContestants, onSlowDisks, runContest } from './rivals/contest.ts'
import { allSent, load } from './rivals/load.ts'
import { startProvider } from './rivals/provider-process.ts'
import { cpuMicroseconds } from './support/cpu-time.ts'

const CONNECTIONS = 64
const LOAD_MS = 2000
/** A server in production has compiled its hot code. The first seconds after a start are slower. */
const WARM_UP_MS = 8000
/** The warm-up is shorter, because its backlog must be sent before the measurement begins. */
const SLOW_WARM_UP_MS = 3000
const SLOW_PROVIDER_MS = 150
const SLOW_LOAD_MS = 1000
/**
 * With a slow provider, the number of parallel calls limits the floor. Of 256, 1024, 2048 and 4096, this is the
 * fastest.
 */
const SLOW_MAX_CALLS = 1024

type Figure = 'sent/s' | 'accepted/s' | 'CPU µs' | 'messages'
const COLUMNS = {
  figures: ['sent/s', 'accepted/s', 'CPU µs', 'messages'],
  decimals: { 'sent/s': 0, 'accepted/s': 0, 'CPU µs': 0, messages: 0 },
} as const

/** Beside the rivals, or what a message costs beside another commit. */
export const send: Bench = {
  name: 'send',
  run: (options) => (options.sources.length > 1 ? compareCommits(sendPath, options) : besideRivals(options)),
}

/** Accepts, sends and stores the messages that 64 connections submit in 2 s. Ends when all are sent. */
const besideRivals = (options: BenchOptions): Promise<Row[]> =>
  runContest<Figure>(options, {
    ...COLUMNS,
    entries: [...allContestants([OURS]), ...onSlowDisks([OURS])],
    holds: {
      'floor, raw libSQL': '≥ 0.38',
      'Kannel, file store': '≥ 1.9',
      'Express + BullMQ + Redis + SQLite': '≥ 10',
    },
    turn: (start) => sendAll(start, options, { delayMs: 0, warmUpMs: WARM_UP_MS, loadMs: LOAD_MS }),
  })

/** The same beside the rivals, with a provider that takes 150 ms per answer, and the messages that 64 connections submit in 1 s. */
export const slowSend: Bench = {
  name: 'slow send',
  run: (options) =>
    runContest<Figure>(options, {
      ...COLUMNS,
      entries: allContestants(options.sources, SLOW_MAX_CALLS),
      holds: { 'floor, no storage': '≥ 0.40', 'Kannel, file store': '≥ 1.2' },
      turn: (start) =>
        sendAll(start, options, { delayMs: SLOW_PROVIDER_MS, warmUpMs: SLOW_WARM_UP_MS, loadMs: SLOW_LOAD_MS }),
    }),
}

async function sendAll(
  start: Parameters<Contest<Figure>['turn']>[0],
  options: BenchOptions,
  { delayMs, warmUpMs, loadMs }: { delayMs: number; warmUpMs: number; loadMs: number },
): Promise<Record<Figure, number>> {
  await using provider = await startProvider(delayMs)
  await using running = await start({ provider })
  const warmUp = await load(running, CONNECTIONS, shortened(options, warmUpMs))
  await allSent(running, provider, warmUp.accepted)
  const usedBefore = cpuMicroseconds(running.pids)
  const startedAt = performance.now()
  const { accepted, requestsPerSecond } = await load(running, CONNECTIONS, shortened(options, loadMs))
  await allSent(running, provider, warmUp.accepted + accepted)
  const seconds = (performance.now() - startedAt) / 1000
  const used = cpuMicroseconds(running.pids) - usedBefore
  return {
    'sent/s': accepted / seconds,
    'accepted/s': requestsPerSecond,
    'CPU µs': used / accepted,
    messages: accepted,
  }
}
