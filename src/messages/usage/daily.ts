import { DAY_MS, HALF_HOUR_MS } from '../../core/limits.ts'
import type { UsageReads } from './overview.ts'

/** The usage of one app on one day. */
export interface DailyUsage {
  /** The number of the UTC day since the epoch. */
  day: number
  appId: string
  sent: number
  failed: number
  received: number
  segments: number
  media: number
}

const PER_DAY = DAY_MS / HALF_HOUR_MS

const DAYS = `SELECT half_hour / ${PER_DAY} AS day, app_id, sum(sent) AS sent, sum(failed) AS failed, sum(received) AS received,
    sum(segments) AS segments, sum(media) AS media
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 AND app_id = coalesce(?4, app_id)
  GROUP BY 1, 2 HAVING sum(sent) + sum(failed) + sum(received) > 0 ORDER BY 1 DESC, 2`

/** A tenant's days with traffic from `first` to `last`, newest first. */
export async function dailyUsage(
  { database }: UsageReads,
  tenantId: string,
  { first, last, appId }: { first: number; last: number; appId: string | null },
): Promise<DailyUsage[]> {
  const args = [tenantId, first * PER_DAY, (last + 1) * PER_DAY, appId]
  return (await database.reader.longRead(tenantId, DAYS, args)).map((row) => ({
    day: Number(row['day']),
    appId: String(row['app_id']),
    sent: Number(row['sent']),
    failed: Number(row['failed']),
    received: Number(row['received']),
    segments: Number(row['segments']),
    media: Number(row['media']),
  }))
}
