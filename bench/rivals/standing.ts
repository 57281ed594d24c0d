import type { Outcome } from './compare.ts'
import { sgw } from './sgw.ts'

/**
 * How an outcome stands by its figure `by`, in words: everybody to the floor (the first outcome), sgw to each rival,
 * and who has a slower disk to itself.
 */
export function standing<Figure extends string>(
  outcomes: readonly Outcome<Figure>[],
  outcome: Outcome<Figure>,
  by: Figure,
): string {
  const value = outcome.figures[by]
  const floor = outcomes[0]
  if (Number.isNaN(value) || floor === undefined || outcome === floor) return ''
  const rateOf = (contestant: string): number =>
    outcomes.find((one) => one.contestant === contestant && !one.slowDisk)?.figures[by] ?? Number.NaN
  if (outcome.slowDisk) return `${(value / rateOf(outcome.contestant)).toFixed(2)} of +0 ms`
  const toFloor = `${(value / floor.figures[by]).toFixed(2)} of floor`
  return outcome.contestant === sgw.name ? toFloor : `${toFloor}, sgw is ${(rateOf(sgw.name) / value).toFixed(2)} × it`
}
