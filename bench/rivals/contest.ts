import { loadavg } from 'node:os'
import type { BenchOptions, Row } from '../bench.ts'
import type { Source } from '../gateway/source.ts'
import { coresInUse, holdLoadCore } from '../support/cores.ts'
import { flushMs } from '../support/flush-time.ts'
import { bullmq } from './bullmq.ts'
import { type Entry, type Turn, compare } from './compare.ts'
import { durableFloor, floor } from './floor.ts'
import { kannel } from './kannel.ts'
import { sgw } from './sgw.ts'
import { type Columns, tableOf } from './table.ts'

export interface Contest<Figure extends string> extends Columns<Figure> {
  entries: readonly Entry[]
  turn: Turn<Figure>
}

/** The floors, the gateway of every source, and the rivals. The floors make `maxCalls` parallel calls. */
export const allContestants = (sources: readonly Source[], maxCalls?: number): Entry[] =>
  [floor(maxCalls), durableFloor(maxCalls), ...sources.map(sgw), kannel('file'), kannel('spool'), bullmq].map(
    (contestant) => ({ contestant }),
  )

/** The contestants that wait for a disk, on a slower disk. */
export const onSlowDisks = (sources: readonly Source[]): Entry[] =>
  [durableFloor(), ...sources.map(sgw), kannel('file'), bullmq].map((contestant) => ({ contestant, slowDisk: true }))

export async function runContest<Figure extends string>(
  options: BenchOptions,
  contest: Contest<Figure>,
): Promise<Row[]> {
  using _core = holdLoadCore()
  process.stdout.write(`Medians of ${options.rounds}, in turn; ${coresInUse()}; ${machine()}\n`)
  const outcomes = await compare(options.rounds, contest.entries, contest.figures, contest.turn)
  return tableOf(contest, outcomes)
}

/** On a busy machine, ratios are exact only if the load slows all contestants down alike. */
const machine = (): string =>
  `load average before: ${(loadavg()[0] ?? 0).toFixed(1)}; a flush of this disk: ${flushMs().toFixed(2)} ms`
