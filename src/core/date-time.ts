const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i

/** Epoch milliseconds of an ISO 8601 date-time with offset; null for anything else. */
export function parseDateTime(text: string): number | null {
  const match = DATE_TIME.exec(text)
  if (match === null || !isCalendarDay(match)) return null
  const parsed = Date.parse(text.toUpperCase().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(parsed) ? null : parsed
}

/** Epoch milliseconds at which a day begins in UTC; null for anything but an ISO 8601 date. */
export function parseDate(text: string): number | null {
  const match = DATE.exec(text)
  return match === null || !isCalendarDay(match) ? null : Date.parse(`${text}T00:00:00.000Z`)
}

/** `Date.UTC` would read years below 100 as 19xx. */
function isCalendarDay([, year, month, day]: RegExpExecArray): boolean {
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
