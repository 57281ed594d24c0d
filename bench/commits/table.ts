import type { Row } from '../bench.ts'

const HOLDS = '≤ 1.02'
/** A commit that differs from itself by more than this cannot be distinguished from another one. */
const EXACT_TO = 0.02

/**
 * The mean microseconds of each commit, and the mean ratio of ours to each of the others and to its own second pair, with its standard error.
 * A ratio is taken within a round, so that slow minutes of the machine count for both. `rounds`: the working copy first, its second pair last.
 */
export function rowOf(path: string, rounds: readonly Readonly<Record<string, number>>[]): Row {
  const [ours = '', ...others] = Object.keys(rounds[0] ?? {})
  const figures = (label: string): number[] => rounds.map((round) => round[label] ?? Number.NaN)
  const ratios = others.map((other) => ratioOf(figures(ours), figures(other)))
  return {
    path,
    ...Object.fromEntries([ours, ...others].map((label) => [`${label}, µs`, mean(figures(label)).toFixed(1)])),
    ...Object.fromEntries(others.map((other, index) => [`${ours} ÷ ${other}`, shown(ratios[index])])),
    starts: rounds.length,
    holds: HOLDS,
    note: tells(ratios.at(-1)) ? '' : 'differs from itself by 2 % or more: more --rounds',
  }
}

interface Ratio {
  mean: number
  error: number
}

/** The geometric mean, so that A ÷ B is the reciprocal of B ÷ A. */
function ratioOf(ours: readonly number[], theirs: readonly number[]): Ratio {
  const logs = ours.map((figure, round) => Math.log(figure / (theirs[round] ?? Number.NaN)))
  const center = mean(logs)
  const variance = logs.reduce((sum, log) => sum + (log - center) ** 2, 0) / (logs.length - 1)
  return { mean: Math.exp(center), error: Math.sqrt(variance / logs.length) }
}

/** Not even one start: its error is not known. */
const tells = (itself?: Ratio): boolean =>
  itself !== undefined && Math.abs(itself.mean - 1) < EXACT_TO && itself.error < EXACT_TO / 2

const shown = (ratio?: Ratio): string => `${ratio?.mean.toFixed(3)} ± ${ratio?.error.toFixed(3)}`

const mean = (figures: readonly number[]): number => figures.reduce((sum, figure) => sum + figure, 0) / figures.length
