import { DAY_MS, HALF_HOUR_MS } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
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

const SUMS = `sum(sent) AS sent, sum(failed) AS failed, sum(received) AS received, sum(segments) AS segments, sum(media) AS media`
const HAS_TRAFFIC = 'sum(sent) + sum(failed) + sum(received) > 0'

const DAYS = `SELECT half_hour / ${PER_DAY} AS day, app_id, ${SUMS}
  FROM usage WHERE tenant_id = ?1 AND half_hour >= ?2 AND half_hour < ?3 AND app_id = coalesce(?4, app_id)
  GROUP BY 1, 2 HAVING ${HAS_TRAFFIC} ORDER BY 1 DESC, 2`

/** A tenant's days with traffic from `first` to `last`, newest first. */
export async function dailyUsage(
  { database }: UsageReads,
  tenantId: string,
  { first, last, appId }: { first: number; last: number; appId: string | null },
): Promise<DailyUsage[]> {
  const args = [tenantId, first * PER_DAY, (last + 1) * PER_DAY, appId]
  return (await database.reader.longRead(tenantId, DAYS, args)).map(dayOf)
}

const dayOf = (row: Row): DailyUsage => ({ day: Number(row['day']), ...countsOf(row) })

const countsOf = (row: Row): Omit<DailyUsage, 'day'> => ({
  appId: String(row['app_id']),
  sent: Number(row['sent']),
  failed: Number(row['failed']),
  received: Number(row['received']),
  segments: Number(row['segments']),
  media: Number(row['media']),
})

/** The usage of one app of any tenant. */
export interface AppUsage extends Omit<DailyUsage, 'day'> {
  tenantId: string
  tenantName: string
  appName: string
  /** Orders apps by the names of tenants and apps. */
  place: string
}

/** Receiving this many from the reader takes about a millisecond of the event loop. */
const APPS_PER_PAGE = 1000

/** The join gives each tenant its range of the index. */
const DAY_OF_ALL = `WITH used AS (
    SELECT tenants.id AS tenant_id, app_id, ${SUMS}
    FROM tenants CROSS JOIN usage ON tenant_id = tenants.id AND half_hour >= ?1 AND half_hour < ?2
    GROUP BY tenants.id, app_id HAVING ${HAS_TRAFFIC})
  SELECT used.*, tenants.name AS tenant_name, apps.name AS app_name,
    concat_ws(char(10), tenants.name, tenants.id, coalesce(apps.name, ''), app_id) AS place
  FROM used CROSS JOIN tenants ON tenants.id = used.tenant_id LEFT JOIN apps ON apps.id = app_id
  WHERE place > ?3 ORDER BY place LIMIT ${APPS_PER_PAGE}`

/** The usage of all apps with traffic on a day, in pages, ordered by place. */
export async function* dayOfAll({ database }: UsageReads, day: number): AsyncGenerator<AppUsage[]> {
  for (let after = '', count = APPS_PER_PAGE; count === APPS_PER_PAGE;) {
    const rows = await database.reader.longRead('operator', DAY_OF_ALL, [day * PER_DAY, (day + 1) * PER_DAY, after])
    count = rows.length
    after = String(rows.at(-1)?.['place'])
    yield rows.map(appUsageOf)
  }
}

const appUsageOf = (row: Row): AppUsage => ({
  tenantId: String(row['tenant_id']),
  tenantName: String(row['tenant_name']),
  ...countsOf(row),
  appName: String(row['app_name'] ?? ''),
  place: String(row['place']),
})
