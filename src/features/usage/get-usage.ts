import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { DAY_MS, DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'
import { dailyUsage } from '../../usage/daily.ts'
import { usageReads } from '../../usage/slices.ts'
import type { UsageDay, UsageQuery } from './schemas.ts'

/** Returns the tenant's usage by day and app. Another tenant's app has no days. Errors: `badStartDate` for more than 92 days. */
export async function getUsage(gateway: Gateway, caller: Caller, query: UsageQuery): Promise<UsageDay[]> {
  const until = dayOf(query.endDate ?? gateway.clock.now())
  const since = query.startDate === undefined ? until - DEFAULT_USAGE_DAYS + 1 : dayOf(query.startDate)
  if (until - since >= MAX_USAGE_DAYS) throw apiError('badStartDate')
  const range = { since, until, appId: query.appId ?? null }
  const days = await dailyUsage(usageReads(gateway), caller.tenantId, range)
  return days.map(({ day, ...usage }) => ({ date: isoTime(day * DAY_MS).slice(0, 10), ...usage }))
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
