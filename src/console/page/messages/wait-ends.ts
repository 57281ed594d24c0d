import type { Message } from '../../../client/client.ts'
import { RELOAD_EVERY_MS } from '../list/paged-list.ts'

/** While messages wait, their reasons are read again this often, because a wait has no event. */
const WAITS_EVERY_MS = 15_000
/** A wait with a known end is over a moment after it. */
const AFTER_WAIT_MS = 200

/**
 * In how many milliseconds unfinished messages are read again: when the first wait ends, or after a while. A message without a wait may soon
 * have one.
 */
export function nextReadingMs(open: readonly Pick<Message, 'waiting'>[]): number {
  const waits = open.flatMap(({ waiting }) => waiting ?? [])
  const ends = waits.flatMap(({ until }) => (until === undefined ? [] : Date.parse(until) - Date.now()))
  const next = Math.min(WAITS_EVERY_MS, ...ends.filter((ms) => ms > 0).map((ms) => ms + AFTER_WAIT_MS))
  return Math.max(waits.length < open.length ? 0 : next, RELOAD_EVERY_MS)
}
