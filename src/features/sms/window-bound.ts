import { WINDOW_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import type { Gateway } from '../../gateway.ts'

// First attempts that have no row of their own are found by no index: one would cost every message. What is stored instead
// is the message up to which none counts in a rate window any more (`windows_after`), so that a start reads only what came
// after it; and the one that becomes it once a window's length has passed (`windows_next`).

export const WINDOW_BOUND = `coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'windows_after'), 0)`

const NEWEST = '(SELECT coalesce(max(seq), 0) FROM messages)'

/** With every deletion of messages: where the newest ones go, their `seq`s are used again. */
export const LOWER_BOUND = `UPDATE facts SET value = ${NEWEST}
  WHERE name IN ('windows_after', 'windows_next') AND CAST(value AS INTEGER) > ${NEWEST}`

const PROMOTE = `UPDATE facts SET value = next.value FROM facts AS next
  WHERE facts.name = 'windows_after' AND next.name = 'windows_next' AND facts.value != next.value`
const NOTE_NEWEST = `UPDATE facts SET value = ${NEWEST} WHERE name = 'windows_next' AND CAST(value AS INTEGER) != ${NEWEST}`

/** Moves the bound each time it is asked a window's length after the last time. */
export function windowBound({ database, clock, log }: Gateway): { move(): Promise<void> } {
  let notedAt = -Infinity
  const move = async (): Promise<void> => {
    if (clock.monotonic() - notedAt < WINDOW_MS) return
    try {
      await database.gate.batch(notedAt === -Infinity ? [NOTE_NEWEST] : [PROMOTE, NOTE_NEWEST])
    } catch (error) {
      // It only spares a start time.
      log.debug({ error: errorName(error) }, 'the bound of the rate windows was not moved')
    }
    // Behind the commit, and behind one that failed although it was done: what it noted is older than this.
    notedAt = clock.monotonic()
  }
  return { move }
}
