import { timeZone } from '../state/settings.ts'

/** The range that the gateway accepts. */
const MAX_AHEAD_MS = 30 * 86_400_000
const HOUR_MS = 3_600_000

/** What a date-and-time field says about when a text goes out. */
interface ChosenTime {
  /** In the API's form; undefined to send immediately. */
  sendAt: string | undefined
  /** What is wrong with it or what it causes, as a sentence; '' if neither. */
  note: string
  isWrong: boolean
}

/** The chosen time; null is no choice, so the text goes out immediately. */
export function chosenTime(value: string | null, now: number): ChosenTime {
  const unset = (note: string, isWrong: boolean): ChosenTime => ({ sendAt: undefined, note, isWrong })
  if (value === null) return unset('', false)
  const at = Date.parse(timeZone.value === 'utc' ? `${value}Z` : value)
  if (Number.isNaN(at)) return unset('Choose a date and a time.', true)
  if (at > now + MAX_AHEAD_MS) return unset('A text can be scheduled 30 days ahead.', true)
  if (at <= now) return unset('This time has passed, so the text goes out at once.', false)
  return { sendAt: new Date(at).toISOString(), note: '', isWrong: false }
}

/** The hour after the next full hour, in the form of a date-and-time field: `2026-11-23T16:00`, in the zone in which times are shown. */
export function soonest(now: number): string {
  const offsetMs = timeZone.value === 'utc' ? 0 : new Date(now).getTimezoneOffset() * 60_000
  const hour = Math.ceil((now - offsetMs) / HOUR_MS) + 1
  return new Date(hour * HOUR_MS).toISOString().slice(0, 16)
}
