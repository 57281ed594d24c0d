import { MAX_LISTED } from '../../core/limits.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../gateway.ts'
import type { HalfHours } from '../usage/overview.ts'
import { earliestAt, neverArrivedByTenant } from '../webhooks/never-arrived.ts'

/** How one tenant does among all. */
export interface TenantState {
  tenantId: string
  name: string
  status: 'active' | 'suspended' | 'inactive'
  sent: number
  received: number
  failed: number
  undelivered: number
  /** Messages that wait now, or are being sent; scheduled ones do not count. */
  waiting: number
  /** Webhook deliveries. */
  neverArrived: number
  /** What was sent and received, by the number of the bucket; without empty ones. */
  buckets: ReadonlyMap<number, number>
}

/**
 * The half hours from `?1` to `?2` (not included), in buckets of `?3`. The join gives each tenant its range of the index. `?4`: the tenants
 * that come first, as JSON. `?5`: `earliestAt`.
 */
const TENANTS = `WITH counted AS (
    SELECT tenant_id, CAST((half_hour - ?1) / ?3 AS INTEGER) AS bucket, sum(sent) AS sent, sum(received) AS received, sum(failed) AS failed,
      sum(undelivered) AS undelivered
    FROM tenants CROSS JOIN usage ON tenant_id = tenants.id AND half_hour >= ?1 AND half_hour < ?2 GROUP BY 1, 2),
  summed AS (
    SELECT tenant_id, sum(sent) AS sent, sum(received) AS received, sum(failed) AS failed, sum(undelivered) AS undelivered,
      json_group_object(bucket, sent + received) FILTER (WHERE sent + received > 0) AS buckets
    FROM counted GROUP BY tenant_id),
  waiting AS (SELECT tenant_id, count(*) AS waiting FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'send' GROUP BY tenant_id),
  missing AS (${neverArrivedByTenant('?5')})
  SELECT id, name, status, sent, received, failed, undelivered, buckets, waiting, missing.count AS never_arrived, count(*) OVER () AS total
  FROM tenants LEFT JOIN summed ON summed.tenant_id = id LEFT JOIN waiting ON waiting.tenant_id = id
    LEFT JOIN missing ON missing.tenant_id = id
  ORDER BY id IN (SELECT value FROM json_each(?4)) DESC, coalesce(sent + received, 0) DESC, created_at, id LIMIT ${MAX_LISTED}`

/** Reads how the messages of all tenants do; first those of `firstIds`, then those with the most traffic. `total`: of all tenants. */
export async function readAllTenants(
  { database, clock }: Pick<Gateway, 'database' | 'clock'>,
  { since, end }: HalfHours,
  perBucket: number,
  firstIds: readonly string[],
): Promise<{ total: number; tenants: TenantState[] }> {
  const args = [since, end, perBucket, JSON.stringify(firstIds), earliestAt(clock)]
  const rows = await database.reader.longRead('operator', TENANTS, args)
  return { total: Number(rows[0]?.['total'] ?? 0), tenants: rows.map(stateOf) }
}

function stateOf(row: Row): TenantState {
  const buckets = typeof row['buckets'] === 'string' ? (JSON.parse(row['buckets']) as Record<string, number>) : {}
  return {
    tenantId: String(row['id']),
    name: String(row['name']),
    status: row['status'] as TenantState['status'],
    sent: Number(row['sent']),
    received: Number(row['received']),
    failed: Number(row['failed']),
    undelivered: Number(row['undelivered']),
    waiting: Number(row['waiting']),
    neverArrived: Number(row['never_arrived']),
    buckets: new Map(Object.entries(buckets).map(([bucket, count]) => [Number(bucket), count])),
  }
}
