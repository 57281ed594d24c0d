import { isoTime } from '../../core/clock.ts'

/** On both sides of a time in the items that SQLite makes: no JSON shows this character as it is. */
export const MARK = '\u001e'

/** The last one that a `Date` can be. */
const LAST_TIME = 8_640_000_000_000_000

/**
 * Items with their times as `2026-11-21T02:30:00.000Z`. SQLite takes two thirds as long for two of them as for
 * the rest of a message.
 */
export function withTimes(items: string): string {
  let shown = ''
  let end = 0
  for (let mark = items.indexOf(MARK); mark >= 0; mark = items.indexOf(MARK, end)) {
    const next = items.indexOf(MARK, mark + 1)
    shown += items.slice(end, mark) + timeOf(items.slice(mark + 1, next))
    end = next + 1
  }
  return shown + items.slice(end)
}

/** Null where there is no such time: a page can be read whatever a clock has said. */
function timeOf(stored: string): string {
  const at = stored === '' ? Number.NaN : Number(stored)
  return Math.abs(at) <= LAST_TIME ? `"${isoTime(at)}"` : 'null'
}
