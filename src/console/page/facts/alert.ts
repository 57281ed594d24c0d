import type { Alert, KnownAlert } from '../state/alert.ts'
import { asOperator, me } from '../state/caller.ts'
import { othersInTrouble, ownAlerts } from '../state/standing.ts'
import { knownAlert } from './alert-facts.ts'

/** The part of the client that only an operator may call. */
export const listAlerts = async (): Promise<KnownAlert[]> =>
  (await asOperator().request<{ alerts: Alert[] }>('GET', '/v1/operator/alerts')).alerts.map(knownAlert)

/** Tells all views and the rail which alerts fire. */
export function shareAlerts(alerts: readonly KnownAlert[]): void {
  const { tenantId } = me.peek() ?? {}
  const isElsewhere = (alert: Alert): boolean => alert.tenantId !== undefined && alert.tenantId !== tenantId
  ownAlerts.value = alerts.filter((alert) => !isElsewhere(alert))
  const heard = alerts.filter((alert) => isElsewhere(alert) && alert.mutedUntil === undefined)
  othersInTrouble.value = new Set(heard.map((alert) => alert.tenantId)).size
}
