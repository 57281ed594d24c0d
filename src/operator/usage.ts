import { isoTime } from '../core/clock.ts'
import { parseDate } from '../core/date-time.ts'
import { DAY_MS } from '../core/limits.ts'
import type { Gateway } from '../messages/gateway.ts'
import { type AppUsage, dayOfAll } from '../messages/usage/daily.ts'
import type { TenantsUsage, TenantsUsageQuery } from './usage-schemas.ts'

const COUNTS = ['sent', 'failed', 'received', 'segments', 'media'] as const

/** A month of all tenants. */
export interface MonthOfAll {
  /** `2026-11` */
  month: string
  /** Of each app that has days, by the names of tenants and apps. */
  totals: AppUsage[]
  /** Newest first; those of one day by the names. */
  days: (AppUsage & { date: string })[]
}

/**
 * Reads the usage of a month, by default of the current one. The totals are sums of the days, so both always agree. Each day is read by itself,
 * so that no tick of the event loop takes long.
 */
export async function readTenantsUsage({ database, clock }: Gateway, query: TenantsUsageQuery): Promise<MonthOfAll> {
  const { month = isoTime(clock.now()).slice(0, MONTH_LENGTH) } = query
  const totals = new Map<string, AppUsage>()
  const days: MonthOfAll['days'] = []
  for (const day of daysOf(month).toReversed()) {
    const date = isoTime(day * DAY_MS).slice(0, DATE_LENGTH)
    for (const usage of (await dayOfAll({ database }, day)).toSorted(byName)) {
      days.push({ date, ...usage })
      addTo(totals, usage)
    }
  }
  return { month, totals: [...totals.values()].toSorted(byName), days }
}

/** The same without the names. */
export const jsonOf = ({ totals, days }: MonthOfAll): TenantsUsage => ({
  totals: totals.map(withoutNames),
  days: days.map(withoutNames),
})

const MONTH_LENGTH = '2026-11'.length
const DATE_LENGTH = '2026-11-29'.length

/** The days of a month, by their numbers since the epoch. */
function daysOf(month: string): number[] {
  const next = new Date(parseDate(`${month}-01`) ?? Number.NaN)
  const first = next.getTime() / DAY_MS
  next.setUTCMonth(next.getUTCMonth() + 1)
  return Array.from({ length: next.getTime() / DAY_MS - first }, (_, index) => first + index)
}

function addTo(totals: Map<string, AppUsage>, usage: AppUsage): void {
  const key = `${usage.tenantId} ${usage.appId}`
  const total = totals.get(key)
  if (total === undefined) totals.set(key, { ...usage })
  else for (const count of COUNTS) total[count] += usage[count]
}

const nameOf = ({ tenantName, tenantId, appName, appId }: AppUsage): string =>
  [tenantName, tenantId, appName, appId].join('\n')

const byName = (one: AppUsage, other: AppUsage): number => (nameOf(one) < nameOf(other) ? -1 : 1)

function withoutNames<Usage extends AppUsage>({ tenantName: _tenant, appName: _app, ...usage }: Usage) {
  return usage
}
