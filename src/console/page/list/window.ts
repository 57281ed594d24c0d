import { dayOf } from '../state/clock.ts'

/** Between two rows, messages or events may be missing: from the time of the older row to that of the newer one. */
export interface Gap {
  after: string
  before: string
}

/** What a list has to know of its rows. */
export interface RowFacts<Row> {
  /** Unique in the list. */
  keyOf(row: Row): string
  /** When it began: the list is ordered by it, newest first. */
  atOf(row: Row): string
}

/** What stands in the list, from top to bottom. */
export type Item<Row> =
  | { type: 'day'; key: string; at: string; height: number }
  | { type: 'gap'; key: string; gap: Gap; height: number }
  | { type: 'row'; key: string; row: Row; height: number }

/** Heights in pixels, on a wide page and on a phone. */
export const HEIGHTS = { wide: { row: 36, day: 32, gap: 36 }, phone: { row: 60, day: 40, gap: 60 } } as const

/** Rows under the header of their day; a gap stands above the first row that is older than it. */
export function itemsOf<Row>(
  rows: readonly Row[],
  { keyOf, atOf }: RowFacts<Row>,
  gap: Gap | null,
  heights: { row: number; day: number; gap: number },
): Item<Row>[] {
  const items: Item<Row>[] = []
  let day = ''
  let isGapDue = gap !== null
  for (const row of rows) {
    const at = atOf(row)
    if (isGapDue && gap !== null && at <= gap.after) {
      items.push({ type: 'gap', key: `gap ${gap.after}`, gap, height: heights.gap })
      isGapDue = false
    }
    const itsDay = dayOf(at)
    if (itsDay !== day) items.push({ type: 'day', key: itsDay, at, height: heights.day })
    day = itsDay
    items.push({ type: 'row', key: keyOf(row), row, height: heights.row })
  }
  return items
}

export interface Window<Row> {
  /** The visible items, with some more on both sides. */
  visible: readonly Item<Row>[]
  /** Heights of what is left out above and below. */
  above: number
  below: number
  /** The day of the first visible item. */
  day: string
}

const OVERSCAN = 12

/** The part of a list that is drawn. */
export function windowOf<Row>(items: readonly Item<Row>[], scrollTop: number, height: number): Window<Row> {
  let [top, first, last, above, below] = [0, 0, 0, 0, 0]
  let day = ''
  items.forEach((item, index) => {
    if (top <= scrollTop && item.type === 'day') day = item.key
    if (top + item.height <= scrollTop) first = index
    if (top < scrollTop + height) last = index
    top += item.height
  })
  const from = Math.max(0, first - OVERSCAN)
  const to = Math.min(items.length, last + OVERSCAN)
  items.forEach((item, index) => {
    if (index < from) above += item.height
    if (index >= to) below += item.height
  })
  return { visible: items.slice(from, to), above, below, day }
}
