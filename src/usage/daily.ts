import { DAY_MS, HALF_HOUR_MS } from '../core/limits.ts'
import { type UsageReads, readSlices } from './slices.ts'

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

/** Reads all apps: filtering by one would read as many rows. */
const DAYS = `SELECT half_hour / ${PER_DAY} AS day, app_id, sum(sent) AS sent, sum(failed) AS failed, sum(received) AS received,
    sum(segments) AS segments, count(*) AS stored
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 GROUP BY 1, 2`

/** A tenant's days with traffic from `first` to `last`, newest first. */
export async function dailyUsage(
  reads: UsageReads,
  tenantId: string,
  { first, last, appId }: { first: number; last: number; appId: string | null },
): Promise<DailyUsage[]> {
  const days = new Map<string, DailyUsage>()
  for (const row of await readSlices(reads, DAYS, tenantId, { since: first * PER_DAY, end: (last + 1) * PER_DAY })) {
    const [day, rowAppId] = [Number(row['day']), String(row['app_id'])]
    if (appId !== null && rowAppId !== appId) continue
    const key = `${day} ${rowAppId}`
    const known = days.get(key) ?? { day, appId: rowAppId, sent: 0, failed: 0, received: 0, segments: 0 }
    known.sent += Number(row['sent'])
    known.failed += Number(row['failed'])
    known.received += Number(row['received'])
    known.segments += Number(row['segments'])
    days.set(key, known)
  }
  return [...days.values()]
    .filter(({ sent, failed, received }) => sent + failed + received > 0)
    .toSorted((one, other) => other.day - one.day || (one.appId < other.appId ? -1 : 1))
}
