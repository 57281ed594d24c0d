import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { invalidParameter } from '../../core/errors.ts'
import { DAY_MS, DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { dailyUsage } from '../../messages/usage/daily.ts'
import type { UsageDay, UsageQuery } from './schemas.ts'

/** Returns the tenant's usage by day and app. Another tenant's app has no days. Errors: `Invalid startDate` for more than 92 days. */
export async function getUsage(gateway: Gateway, caller: Caller, query: UsageQuery): Promise<UsageDay[]> {
  const last = dayOf(query.endDate ?? gateway.clock.now())
  const first = query.startDate === undefined ? last - DEFAULT_USAGE_DAYS + 1 : dayOf(query.startDate)
  if (last - first >= MAX_USAGE_DAYS) throw invalidParameter('startDate')
  const range = { first, last, appId: query.appId ?? null }
  const days = await dailyUsage(gateway, caller.tenantId, range)
  return days.map(({ day, ...usage }) => ({ date: isoTime(day * DAY_MS).slice(0, 10), ...usage }))
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS)
