import { dayOf } from '../state/clock.ts'

/** Between two rows, messages or events may be missing: from the time of the older row to that of the newer one. */
export interface Gap {
  after: string
  before: string
}

/** What a list must know about its rows. */
export interface RowFacts<Row> {
  /** Unique in the list. */
  keyOf(row: Row): string
  /** When it began: the list is ordered by it, newest first. */
  atOf(row: Row): string
}

/** The items of the list, from top to bottom, and how many pixels from its top. */
export type Item<Row> = ItemContent<Row> & { top: number; height: number }
type ItemContent<Row> = { key: string } & (
  | { type: 'day'; at: string }
  | { type: 'gap'; gap: Gap }
  | { type: 'row'; row: Row }
)

/** Heights in pixels, on a wide page and on a phone. */
export const HEIGHTS = { wide: { row: 36, day: 32, gap: 36 }, phone: { row: 60, day: 40, gap: 60 } } as const

/** Rows below the header of their day; a gap is above the first row that is older than the gap. */
export function itemsOf<Row>(
  rows: readonly Row[],
  { keyOf, atOf }: RowFacts<Row>,
  gap: Gap | null,
  heights: { row: number; day: number; gap: number },
): Item<Row>[] {
  const items: Item<Row>[] = []
  let day = ''
  let isGapDue = gap !== null
  let top = 0
  const add = (item: ItemContent<Row>): void => {
    const height = heights[item.type]
    items.push({ ...item, top, height })
    top += height
  }
  for (const row of rows) {
    const at = atOf(row)
    if (isGapDue && gap !== null && at <= gap.after) {
      add({ type: 'gap', key: `gap ${gap.after}`, gap })
      isGapDue = false
    }
    const itsDay = dayOf(at)
    if (itsDay !== day) add({ type: 'day', key: itsDay, at })
    day = itsDay
    add({ type: 'row', key: keyOf(row), row })
  }
  return items
}

export interface Window<Row> {
  /** The visible items, with some more above and below. */
  visible: readonly Item<Row>[]
  /** The heights of the items left out above and below. */
  above: number
  below: number
  /** The header of the first visible item's day. */
  header: Item<Row> | undefined
}

const OVERSCAN = 12

/** The part of a list that is drawn. */
export function windowOf<Row>(items: readonly Item<Row>[], scrollTop: number, height: number): Window<Row> {
  const first = items.findLastIndex((item) => item.top + item.height <= scrollTop)
  const last = items.findLastIndex((item) => item.top < scrollTop + height)
  const from = Math.max(0, first - OVERSCAN)
  const to = last + OVERSCAN
  const end = items.at(-1)
  const total = end === undefined ? 0 : end.top + end.height
  return {
    visible: items.slice(from, to),
    above: items[from]?.top ?? 0,
    below: total - (items[to]?.top ?? total),
    header: items.findLast((item) => item.type === 'day' && item.top <= scrollTop),
  }
}
