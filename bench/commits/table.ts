import type { Row } from '../bench.ts'

const HOLDS = '≤ 1.02'
/** A commit that differs from itself by more than this cannot be told from another one. */
const EXACT_TO = 0.02

/** The microseconds of each commit; ours divided by those of each of the others, and by its own second pair. `lowest`: the working copy first, its second pair last. */
export function rowOf(path: string, lowest: Readonly<Record<string, number>>, turns: number): Row {
  const [ours, ...others] = Object.entries(lowest)
  if (ours === undefined) throw new Error('Nothing was measured')
  const [label, figure] = ours
  const ratios = others.map(([other, theirs]) => [`${label} ÷ ${other}`, figure / theirs] as const)
  const itself = ratios.at(-1)?.[1] ?? Number.NaN
  return {
    path,
    ...Object.fromEntries(Object.entries(lowest).map(([name, each]) => [`${name}, µs`, each.toFixed(1)])),
    ...Object.fromEntries(ratios.map(([name, ratio]) => [name, ratio.toFixed(3)])),
    turns,
    holds: HOLDS,
    note: Math.abs(itself - 1) < EXACT_TO ? '' : 'differs from itself by 2 % or more: more --rounds',
  }
}
