import { timeZone } from '../state/settings.ts'

/** What the gateway takes. */
const MAX_AHEAD_MS = 30 * 86_400_000
const HOUR_MS = 3_600_000

/** What a field for date and time says of when a text goes out. */
interface ChosenTime {
  /** As the API has it; undefined for at once. */
  sendAt: string | undefined
  /** What is wrong with it or follows from it, as a sentence; '' if nothing does. */
  note: string
  isWrong: boolean
}

/** The time that was chosen; null is no choice, so the text goes out at once. */
export function chosenTime(value: string | null, now: number): ChosenTime {
  if (value === null) return { sendAt: undefined, note: '', isWrong: false }
  const at = Date.parse(timeZone.value === 'utc' ? `${value}Z` : value)
  if (Number.isNaN(at)) return { sendAt: undefined, note: 'Choose a date and a time.', isWrong: true }
  if (at > now + MAX_AHEAD_MS)
    return { sendAt: undefined, note: 'A text can be scheduled 30 days ahead.', isWrong: true }
  if (at <= now)
    return { sendAt: undefined, note: 'This time has passed, so the text goes out at once.', isWrong: false }
  return { sendAt: new Date(at).toISOString(), note: '', isWrong: false }
}

/** The full hour after the next one, as a field for date and time has it: `2026-11-23T16:00`, in the zone in which times are shown. */
export function soonest(now: number): string {
  const offsetMs = timeZone.value === 'utc' ? 0 : new Date(now).getTimezoneOffset() * 60_000
  const hour = Math.ceil((now - offsetMs) / HOUR_MS) + 1
  return new Date(hour * HOUR_MS).toISOString().slice(0, 16)
}
