const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const AGO = /^(\d{1,4})([hd])$/
const DATE = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/

/** A filter by a time: `today`, `yesterday`, `24h`, `7d`, a date, or a date-time. */
export const TIME = { isValid: isTime, asked: dateOf } as const

function isTime(value: string): boolean {
  const [, day] = DATE.exec(value) ?? []
  if (day === undefined || Number.isNaN(Date.parse(value))) return /^(today|yesterday)$/.test(value) || AGO.test(value)
  // Otherwise, the 31st of February would become a day in March.
  return new Date(day).toISOString().startsWith(day)
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
