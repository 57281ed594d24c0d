import { isoTime } from '../core/clock.ts'
import { HALF_HOUR_MS, OVERVIEW_BUCKETS, TENANTS_OVERVIEW_BUCKETS } from '../core/limits.ts'
import type { Gateway } from '../messages/gateway.ts'
import { readAllTenants } from '../messages/gateway-state/all-tenants.ts'
import { overviewRange } from '../messages/usage/overview.ts'
import { listAlerts } from './alerts/list-alerts.ts'
import { ALERT_NAMES } from './alerts/state.ts'
import type { TenantsOverview, TenantsOverviewQuery } from './overview-schemas.ts'
import type { Alert } from './schemas.ts'

const OF_EACH_BUCKET = OVERVIEW_BUCKETS / TENANTS_OVERVIEW_BUCKETS

/** Returns every tenant's figures, over the range of its own overview for the same `hours`. */
export async function readTenantsOverview(gateway: Gateway, { hours }: TenantsOverviewQuery): Promise<TenantsOverview> {
  const { alerts } = await listAlerts(gateway)
  const now = gateway.clock.now()
  const { range, perBucket } = overviewRange(now, hours)
  const worst = worstOf(alerts)
  const { total, tenants } = await readAllTenants(gateway, range, perBucket * OF_EACH_BUCKET, [...worst.keys()])
  return {
    from: isoTime(range.since * HALF_HOUR_MS),
    to: isoTime(now),
    total,
    alerts,
    tenants: tenants.map((tenant) => ({ ...tenant, worst: worst.get(tenant.tenantId) ?? null })),
  }
}

/** The most urgent alert of each tenant that has one; among equal ones, the oldest. */
function worstOf(alerts: readonly Alert[]): Map<string, Alert> {
  const rankOf = ({ alert }: Alert): number => ALERT_NAMES.indexOf(alert)
  const byUrgency = alerts.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || Date.parse(one.since) - Date.parse(other.since),
  )
  const worst = new Map<string, Alert>()
  for (const alert of byUrgency)
    if (alert.tenantId !== undefined && alert.mutedUntil === undefined && !worst.has(alert.tenantId))
      worst.set(alert.tenantId, alert)
  return worst
}
