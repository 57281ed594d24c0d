import { loadavg } from 'node:os'
import type { Row } from '../row.ts'
import { coresInUse, holdLoadCore } from '../support/cores.ts'
import { flushMs } from '../support/flush-time.ts'
import { bullmq } from './bullmq.ts'
import { type Entry, type Outcome, type Turn, compare } from './compare.ts'
import { durableFloor, floor } from './floor.ts'
import { kannel } from './kannel.ts'
import { sgw } from './sgw.ts'
import { standing } from './standing.ts'

export interface Contest<Figure extends string> {
  rounds: number
  entries: readonly Entry[]
  /** Columns, in their order; outcomes are compared by the first. */
  figures: readonly Figure[]
  decimals: Record<Figure, number>
  /** What is to be reached, by the name of the row. */
  bars: Readonly<Record<string, string>>
  turn: Turn<Figure>
}

export const RIVALS = [kannel('file'), kannel('spool'), bullmq] as const

/** The floors, sgw and its rivals. */
export const everybody = (lanes?: number): Entry[] =>
  [floor(lanes), durableFloor(lanes), sgw, ...RIVALS].map((contestant) => ({ contestant }))

/** Those who have a disk to wait for. */
export const onSlowDisks: readonly Entry[] = [durableFloor(), sgw, kannel('file'), bullmq].map((contestant) => ({
  contestant,
  slowDisk: true,
}))

/** Ratios hold on a busy machine only as far as everybody is slowed down alike. */
const machine = (): string =>
  `load average before: ${(loadavg()[0] ?? 0).toFixed(1)}; a flush of this disk: ${flushMs().toFixed(2)} ms`

export async function hold<Figure extends string>(contest: Contest<Figure>): Promise<Row[]> {
  using _core = holdLoadCore()
  process.stdout.write(`${contest.rounds} rounds, medians; ${coresInUse()}; ${machine()}\n`)
  const outcomes = await compare(contest.rounds, contest.entries, contest.figures, contest.turn)
  return outcomes.map((outcome) => rowOf(contest, outcome, outcomes))
}

function rowOf<Figure extends string>(
  { figures, decimals, bars }: Contest<Figure>,
  outcome: Outcome<Figure>,
  outcomes: readonly Outcome<Figure>[],
): Row {
  const first = figures[0]!
  return {
    contestant: outcome.name,
    ...Object.fromEntries(figures.map((name) => [name, Number(outcome.figures[name].toFixed(decimals[name]))])),
    range: outcome.range.every(Number.isFinite)
      ? outcome.range.map((value) => value.toFixed(decimals[first])).join('–')
      : '',
    compared: standing(outcomes, outcome, first),
    'bar → aim': bars[outcome.name] ?? '',
    note: outcome.note,
  }
}
