import type { UsageDay } from '../../../client/client.ts'

const COLUMNS = ['date', 'appId', 'app', 'sent', 'failed', 'received', 'segments', 'media'] as const

/** The usage in the format of RFC 4180, oldest day first. */
export function csvOf(days: readonly UsageDay[], nameOf: (appId: string) => string): string {
  const rows = days.toReversed().map((day) => {
    const row = { media: 0, ...day, app: nameOf(day.appId) }
    return COLUMNS.map((column) => field(String(row[column])))
  })
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/** A spreadsheet would run a name that begins like a formula, so the name gets an apostrophe. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
