import { setImmediate as nextTick } from 'node:timers/promises'
import type { AppUsage } from '../messages/usage/daily.ts'
import type { MonthOfAll } from './usage.ts'

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

/** Lines written in one tick of the event loop. */
const LINES_PER_TICK = 1000

/** A month in the format of RFC 4180: a header, the totals of the apps, an empty line, and the days. */
export async function csvAnswer({ month, totals, days }: MonthOfAll): Promise<Response> {
  const lines = [COLUMNS.join(','), ...totals.map((total) => lineOf({ date: '', ...total })), '']
  for (let from = 0; from < days.length; from += LINES_PER_TICK) {
    lines.push(...days.slice(from, from + LINES_PER_TICK).map(lineOf))
    await nextTick()
  }
  return new Response(`${lines.join('\r\n')}\r\n`, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="usage-${month}.csv"`,
    },
  })
}

const lineOf = (usage: AppUsage & { date: string }): string =>
  COLUMNS.map((column) => field(String(usage[column]))).join(',')

/** A spreadsheet would run a name that begins like a formula, so it gets an apostrophe. */
function field(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
