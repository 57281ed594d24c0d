import type { AppUsage } from '../messages/usage/daily.ts'
import type { MonthFormat } from './usage.ts'

const COLUMNS = [
  'date',
  'tenantId',
  'tenantName',
  'appId',
  'appName',
  'sent',
  'failed',
  'received',
  'segments',
  'media',
] as const

export const CSV_EXAMPLE = `${COLUMNS.join(',')}\r\n,tenant_0123456789abcdef,Example Ltd,app_0123456789abcdef,Shop,120,2,31,148,3\r\n\r\n2026-11-21,tenant_0123456789abcdef,Example Ltd,app_0123456789abcdef,Shop,120,2,31,148,3\r\n`

/** A month in the format of RFC 4180: a header, the totals of the apps, an empty line, and the days. */
export const CSV_FORMAT: MonthFormat = {
  begin: `${COLUMNS.join(',')}\r\n`,
  write: (usages, date = '') => usages.map((usage) => lineOf({ date, ...usage })).join(''),
  separator: '',
  between: '\r\n',
  end: '',
}

const lineOf = (usage: AppUsage & { date: string }): string =>
  `${COLUMNS.map((column) => field(String(usage[column]))).join(',')}\r\n`

/** A spreadsheet would run a name that begins like a formula, so it gets an apostrophe. */
function field(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
