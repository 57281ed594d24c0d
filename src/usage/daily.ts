import { DAY_MS, HALF_HOUR_MS } from '../core/limits.ts'
import type { Gate } from '../db/gate.ts'

/** The usage of one app on one day. */
export interface DailyUsage {
  /** The number of the UTC day since the epoch. */
  day: number
  appId: string
  sent: number
  failed: number
  received: number
  segments: number
}

const PER_DAY = DAY_MS / HALF_HOUR_MS

const DAYS = `SELECT half_hour / ${PER_DAY} AS day, app_id, sum(sent) AS sent, sum(failed) AS failed, sum(received) AS received, sum(segments) AS segments
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 AND (?4 IS NULL OR app_id = ?4)
  GROUP BY 1, 2 HAVING sum(sent) + sum(failed) + sum(received) > 0 ORDER BY 1 DESC, 2`

/**
 * A tenant's days with traffic, newest first, `since` and `until` included. Days are read one by one, so a long range does
 * not block the event loop.
 */
export async function dailyUsage(
  gate: Gate,
  tenantId: string,
  { since, until, appId }: { since: number; until: number; appId: string | null },
): Promise<DailyUsage[]> {
  const days: DailyUsage[] = []
  for (let day = until; day >= since; day--) {
    const { rows } = await gate.execute({ sql: DAYS, args: [tenantId, day * PER_DAY, (day + 1) * PER_DAY, appId] })
    for (const row of rows)
      days.push({
        day,
        appId: String(row['app_id']),
        sent: Number(row['sent']),
        failed: Number(row['failed']),
        received: Number(row['received']),
        segments: Number(row['segments']),
      })
    if (day % YIELD_EVERY_DAYS === 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return days
}

const YIELD_EVERY_DAYS = 8
