import { dayOf } from '../state/clock.ts'
import type { Gap } from './list-state.ts'
import type { ListRow } from './row.ts'

/** What stands in the list, from top to bottom. */
export type Item =
  | { type: 'day'; key: string; at: string; height: number }
  | { type: 'gap'; key: string; gap: Gap; height: number }
  | { type: 'row'; key: string; row: ListRow; height: number }

/** Heights in pixels, on a wide page and on a phone. */
export const HEIGHTS = { wide: { row: 36, day: 32, gap: 44 }, phone: { row: 60, day: 44, gap: 60 } } as const

/** Rows under the header of their day; a gap stands above the first row that is older than it. */
export function itemsOf(
  rows: readonly ListRow[],
  gap: Gap | null,
  heights: { row: number; day: number; gap: number },
): Item[] {
  const items: Item[] = []
  let day = ''
  let isGapDue = gap !== null
  for (const row of rows) {
    if (isGapDue && gap !== null && row.createdAt <= gap.after) {
      items.push({ type: 'gap', key: `gap ${gap.after}`, gap, height: heights.gap })
      isGapDue = false
    }
    const itsDay = dayOf(row.createdAt)
    if (itsDay !== day) items.push({ type: 'day', key: itsDay, at: row.createdAt, height: heights.day })
    day = itsDay
    items.push({ type: 'row', key: row.messageId, row, height: heights.row })
  }
  return items
}

export interface Window {
  /** The visible items, with some more on both sides. */
  visible: readonly Item[]
  /** Heights of what is left out above and below. */
  above: number
  below: number
  /** The day of the first visible item. */
  day: string
}

const OVERSCAN = 12

/** The part of a list that is drawn. */
export function windowOf(items: readonly Item[], scrollTop: number, height: number): Window {
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
