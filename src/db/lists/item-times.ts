import { isoTime } from '../../core/clock.ts'

/** Encloses each time in the items that SQLite makes. JSON escapes this character, so it occurs nowhere else. */
export const TIME_DELIMITER = '\u001e'

/** The greatest time that a `Date` can hold. */
const LAST_TIME = 8_640_000_000_000_000

/** Formats the times in the items as `2026-11-21T02:30:00.000Z`. In SQLite this would take two fifths of an item's time. */
export function withTimes(items: string): string {
  let formatted = ''
  let end = 0
  for (let start = items.indexOf(TIME_DELIMITER); start >= 0; start = items.indexOf(TIME_DELIMITER, end)) {
    const close = items.indexOf(TIME_DELIMITER, start + 1)
    formatted += items.slice(end, start) + timeOf(items.slice(start + 1, close))
    end = close + 1
  }
  return formatted + items.slice(end)
}

/** Null for a time that no `Date` can hold: one bad row must not make a page unreadable. */
function timeOf(stored: string): string {
  const at = stored === '' ? Number.NaN : Number(stored)
  return Math.abs(at) <= LAST_TIME ? `"${isoTime(at)}"` : 'null'
}
