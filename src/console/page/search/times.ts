const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const AGO = /^(\d{1,4})([hd])$/
const DATE = /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** A filter by a time: `today`, `yesterday`, `24h`, `7d`, a date, or a date-time. */
export const TIME = { isValid: isTime, asked: dateOf } as const

function isTime(value: string): boolean {
  if (value === 'today' || value === 'yesterday' || AGO.test(value)) return true
  const day = DATE.exec(value)?.[1]
  const time = day === undefined ? NaN : Date.parse(`${day}T00:00:00Z`)
  // Otherwise, the 31st of February would become a day in March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day ?? '')
}

/** A time in the API's form. `today` and `yesterday` become the beginning of the local day. */
function dateOf(value: string): string {
  const today = new Date()
  today.setHours(0, 0, 0, 0)
  if (value === 'today') return today.toISOString()
  if (value === 'yesterday') return new Date(today.getTime() - DAY_MS).toISOString()
  const [, amount, unit] = AGO.exec(value) ?? []
  if (amount === undefined) return value
  return new Date(Date.now() - Number(amount) * (unit === 'h' ? HOUR_MS : DAY_MS)).toISOString()
}
