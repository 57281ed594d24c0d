import { isoTime } from '../../core/clock.ts'

/** Stands before and after a time in the items that SQLite makes. JSON escapes this character, so it cannot occur elsewhere. */
export const MARK = '\u001e'

/** The greatest time that a `Date` can hold. */
const LAST_TIME = 8_640_000_000_000_000

/** Formats the times in the items as `2026-11-21T02:30:00.000Z`. SQLite would need two fifths of an item's time for that. */
export function withTimes(items: string): string {
  let formatted = ''
  let end = 0
  for (let mark = items.indexOf(MARK); mark >= 0; mark = items.indexOf(MARK, end)) {
    const next = items.indexOf(MARK, mark + 1)
    formatted += items.slice(end, mark) + timeOf(items.slice(mark + 1, next))
    end = next + 1
  }
  return formatted + items.slice(end)
}

/** Null for a time that no `Date` can hold: one bad row must not make a page unreadable. */
function timeOf(stored: string): string {
  const at = stored === '' ? Number.NaN : Number(stored)
  return Math.abs(at) <= LAST_TIME ? `"${isoTime(at)}"` : 'null'
}
