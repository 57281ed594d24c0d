import { setImmediate as nextTick } from 'node:timers/promises'
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
 * Reads the usage of a month, by default of the current one. The totals are sums of the days, so both always agree. Each day is read
 * separately, so that no tick of the event loop takes long.
 */
export async function readTenantsUsage({ database, clock }: Gateway, query: TenantsUsageQuery): Promise<MonthOfAll> {
  const { month = isoTime(clock.now()).slice(0, MONTH_LENGTH) } = query
  const totals = new Map<string, AppUsage>()
  const days: MonthOfAll['days'] = []
  for (const day of daysOf(month).toReversed()) {
    const date = isoTime(day * DAY_MS).slice(0, DATE_LENGTH)
    for (const usage of byNames(await dayOfAll({ database }, day))) {
      days.push({ date, ...usage })
      addTo(totals, usage)
    }
  }
  return { month, totals: byNames([...totals.values()]), days }
}

/** The same as JSON without the names. */
export const writeJson = async ({ totals, days }: MonthOfAll): Promise<string> =>
  `{"totals":${await listOf(totals)},"days":${await listOf(days)}}`

/** Items written in one tick of the event loop. */
const ITEMS_PER_TICK = 1000

async function listOf(items: readonly (TenantsUsage['totals'][number] & AppUsage)[]): Promise<string> {
  const parts: string[] = []
  for (let from = 0; from < items.length; from += ITEMS_PER_TICK) {
    const part = items.slice(from, from + ITEMS_PER_TICK).map(withoutNames)
    parts.push(JSON.stringify(part).slice(1, -1))
    await nextTick()
  }
  return `[${parts.join(',')}]`
}

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

/** Each name is built once, and not at each comparison. */
const byNames = (usages: readonly AppUsage[]): AppUsage[] =>
  usages
    .map((usage) => ({ name: nameOf(usage), usage }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ usage }) => usage)

function withoutNames<Usage extends AppUsage>({ tenantName: _tenant, appName: _app, ...usage }: Usage) {
  return usage
}
