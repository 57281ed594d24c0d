import type { Row } from '../bench.ts'
import { OURS } from '../gateway/source.ts'
import type { Outcome } from './compare.ts'

export interface Columns<Figure extends string> {
  /** In the order of the columns. Outcomes are compared by the first. */
  figures: readonly [Figure, ...Figure[]]
  decimals: Record<Figure, number>
  /** The bound for our figure divided by that of a row, by the name of the row. */
  holds: Readonly<Record<string, string>>
}

/**
 * Makes a row for each outcome: its figures, and ours divided by them. Figures of slower disks are compared with each
 * other.
 */
export function tableOf<Figure extends string>(
  { figures, decimals, holds }: Columns<Figure>,
  outcomes: readonly Outcome<Figure>[],
): Row[] {
  const [first] = figures
  return outcomes.map((outcome) => {
    const ours = outcomes.find((one) => one.contestant === OURS.label && one.slowDisk === outcome.slowDisk)
    const ratio = outcome === ours ? Number.NaN : (ours?.figures[first] ?? Number.NaN) / outcome.figures[first]
    return {
      contestant: outcome.name,
      ...Object.fromEntries(figures.map((name) => [name, shown(outcome.figures[name], decimals[name])])),
      range: outcome.range
        .map((value) => shown(value, decimals[first]))
        .join('–')
        .replace(/^–$/, ''),
      [`${OURS.label} ÷ it`]: shown(ratio, 2),
      holds: holds[outcome.name] ?? '',
      note: outcome.note,
    }
  })
}

/** Empty for a contestant that did not run. */
const shown = (figure: number, decimals: number): string => (Number.isFinite(figure) ? figure.toFixed(decimals) : '')
