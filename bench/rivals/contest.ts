import { loadavg } from 'node:os'
import type { Row } from '../row.ts'
import { coresInUse, holdLoadCore } from '../support/cores.ts'
import { flushMs } from '../support/flush-time.ts'
import { bullmq } from './bullmq.ts'
import { type Entry, type Turn, compare } from './compare.ts'
import { floor } from './floor.ts'
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

/** The floor, sgw and its rivals. */
export const everybody = (lanes?: number): Entry[] =>
  [floor(lanes), sgw, ...RIVALS].map((contestant) => ({ contestant }))

/** Those who have a disk to wait for. */
export const onSlowDisks: readonly Entry[] = [sgw, kannel('file'), bullmq].map((contestant) => ({
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
  return outcomes.map((outcome) => ({
    contestant: outcome.name,
    ...Object.fromEntries(
      contest.figures.map((name) => [name, Number(outcome.figures[name].toFixed(contest.decimals[name]))]),
    ),
    compared: standing(outcomes, outcome, contest.figures[0]!),
    'bar → aim': contest.bars[outcome.name] ?? '',
    note: outcome.note,
  }))
}
