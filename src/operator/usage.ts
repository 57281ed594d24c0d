import { isoTime } from '../core/clock.ts'
import { parseDate } from '../core/date-time.ts'
import { DAY_MS } from '../core/limits.ts'
import type { Gateway } from '../messages/gateway.ts'
import { type TenantDailyUsage, dailyUsageOfAll } from '../messages/usage/daily.ts'
import type { TenantsUsage, TenantsUsageQuery } from './usage-schemas.ts'

const COUNTS = ['sent', 'failed', 'received', 'segments', 'media'] as const

/** What an app used, in a month or on one of its days, and the names. */
export type AppUsage = Omit<TenantDailyUsage, 'day'>

/** A month of all tenants. */
export interface MonthOfAll {
  /** `2026-11` */
  month: string
  /** Of each app that has days. */
  totals: AppUsage[]
  /** Newest first. */
  days: (AppUsage & { date: string })[]
}

/** Reads the usage of a month, by default of the current one. The totals are sums of the days, so both always agree. */
export async function readTenantsUsage(gateway: Gateway, { month }: TenantsUsageQuery): Promise<MonthOfAll> {
  const wanted = month ?? isoTime(gateway.clock.now()).slice(0, MONTH_LENGTH)
  const days = await dailyUsageOfAll(gateway, daysOf(wanted))
  return {
    month: wanted,
    totals: totalsOf(days),
    days: days
      .toSorted((one, other) => other.day - one.day)
      .map(({ day, ...usage }) => ({ date: isoTime(day * DAY_MS).slice(0, DATE_LENGTH), ...usage })),
  }
}

/** The same without the names. */
export const jsonOf = ({ totals, days }: MonthOfAll): TenantsUsage => ({
  totals: totals.map(withoutNames),
  days: days.map(withoutNames),
})

const MONTH_LENGTH = '2026-11'.length
const DATE_LENGTH = '2026-11-29'.length

/** The first and the last day of a month, by their numbers since the epoch. */
function daysOf(month: string): { first: number; last: number } {
  const next = new Date(parseDate(`${month}-01`) ?? Number.NaN)
  const first = next.getTime() / DAY_MS
  next.setUTCMonth(next.getUTCMonth() + 1)
  return { first, last: next.getTime() / DAY_MS - 1 }
}

/** In the order of their days. */
function totalsOf(days: readonly TenantDailyUsage[]): AppUsage[] {
  const totals = new Map<string, AppUsage>()
  for (const { day: _, ...usage } of days) {
    const total = totals.get(keyOf(usage))
    if (total === undefined) totals.set(keyOf(usage), { ...usage })
    else for (const count of COUNTS) total[count] += usage[count]
  }
  return [...totals.values()]
}

const keyOf = ({ tenantId, appId }: AppUsage): string => `${tenantId} ${appId}`

function withoutNames<Usage extends AppUsage>({ tenantName: _tenant, appName: _app, ...usage }: Usage) {
  return usage
}
