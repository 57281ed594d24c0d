import type { BenchOptions, Row } from '../bench.ts'
import { OURS, type Source } from '../gateway/source.ts'
import { alternate } from '../support/alternate.ts'
import { coresInUse, holdLoadCore } from '../support/cores.ts'
import { microsecondsSince, threadTimes } from '../support/thread-times.ts'
import { BURST, type Load, type Path, type Worker } from './path.ts'
import { rowOf } from './table.ts'

/** A turn is short, so that many of them fall into quiet moments of the machine. */
const BURSTS_PER_TURN = 10
const TURNS_PER_ROUND = 10
const TURNS_WHEN_SHORT = 4
/** A server in production has compiled its hot code. Only later turns count. */
const WARM_UP_BURSTS = 150
const WARM_UP_BURSTS_WHEN_SHORT = 60

/** A second pair of the working copy: what a commit differs from itself is what this run cannot tell. */
const AGAIN: Source = { ...OURS, label: 'again' }

/** Microseconds a message of each contestant, by its label. */
type Lowest = Record<string, number>

/**
 * What a message costs with each commit. Other work on the machine can only add to a turn, so the lowest turn of a start is what that start
 * needs. But no two starts place and compile the code alike: starts of one commit differ by up to 10 %. So each round restarts all gateways,
 * side by side, and the commits are compared by the mean of their rounds.
 */
export async function compareCommits(path: Path, options: BenchOptions): Promise<Row[]> {
  using _core = holdLoadCore()
  const turns = options.short ? TURNS_WHEN_SHORT : TURNS_PER_ROUND
  process.stdout.write(
    `Lowest processor time of ${turns} turns of ${BURST * BURSTS_PER_TURN}, mean of ${options.rounds} starts; ${coresInUse()}\n`,
  )
  const contestants = [...options.sources, AGAIN]
  const rounds: Lowest[] = []
  while (rounds.length < options.rounds) {
    const seen = await playRound(
      path,
      rounds.length % 2 === 0 ? contestants : contestants.toReversed(),
      turns,
      options.short,
    )
    rounds.push(Object.fromEntries(contestants.map(({ label }) => [label, seen[label] ?? Number.NaN])))
    process.stdout.write(`round ${rounds.length} of ${options.rounds}: ${shown(seen)}\n`)
  }
  return [rowOf(path.name, rounds)]
}

async function playRound(path: Path, sources: readonly Source[], turns: number, short: boolean): Promise<Lowest> {
  await using stack = new AsyncDisposableStack()
  const workers: [string, Worker][] = []
  for (const source of sources) workers.push([source.label, stack.use(await path.open(source))])
  for (const [, worker] of workers) {
    using load = await worker.connect()
    await run(load, short ? WARM_UP_BURSTS_WHEN_SHORT : WARM_UP_BURSTS)
  }
  const contestants = Object.fromEntries(workers.map(([label, worker]) => [label, () => turnOf(worker)]))
  return await alternate(turns, contestants, (figures) => Math.min(...figures))
}

/** Microseconds a message. */
async function turnOf(worker: Worker): Promise<number> {
  using load = await worker.connect()
  const before = threadTimes(worker.pid)
  await run(load, BURSTS_PER_TURN)
  return microsecondsSince(before, worker.pid) / (BURSTS_PER_TURN * BURST)
}

async function run(load: Load, bursts: number): Promise<void> {
  for (let burst = 0; burst < bursts; burst++) await load.burst()
}

const shown = (seen: Lowest): string =>
  Object.entries(seen)
    .map(([label, figure]) => `${label} ${figure.toFixed(1)} µs`)
    .join(', ')
