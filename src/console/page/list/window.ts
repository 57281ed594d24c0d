import { dayOf } from '../state/clock.ts'

/** Between two rows, messages or events may be missing: from the time of the older row to that of the newer one. */
export interface Gap {
  after: string
  before: string
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
  list: { keyOf(row: Row): string; atOf(row: Row): string },
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
    const at = list.atOf(row)
    if (isGapDue && gap !== null && at <= gap.after) {
      add({ type: 'gap', key: `gap ${gap.after}`, gap })
      isGapDue = false
    }
    const itsDay = dayOf(at)
    if (itsDay !== day) add({ type: 'day', key: itsDay, at })
    day = itsDay
    add({ type: 'row', key: list.keyOf(row), row })
  }
  return items
}

const OVERSCAN = 12

/** The part of a list that is drawn: more than is visible, the heights of what is left out on both sides, and the header of the first visible day. */
export function windowOf<Row>(items: readonly Item<Row>[], scrollTop: number, height: number) {
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
