import type { Row } from '../row.ts'

export interface Comparison {
  case: string
  /** Of `floor` and `sgw`. */
  unit: string
  /** What the barest program reached beside us. */
  floor: number
  sgw: number
  /** The ratio to reach, the bar first: `≥ 0.5 → 0.8`; empty where none is set. */
  goal: string
}

/** A figure of ours beside its limit, measured in the same run. */
export const compared = ({ case: name, unit, floor, sgw, goal }: Comparison): Row => ({
  case: name,
  unit,
  floor: rounded(floor),
  sgw: rounded(sgw),
  ratio: Number((sgw / floor).toFixed(2)),
  'bar → aim': goal,
})

/** Three digits that mean something. */
export const rounded = (figure: number): number =>
  Math.abs(figure) >= 100 ? Math.round(figure) : Number(figure.toPrecision(3))
