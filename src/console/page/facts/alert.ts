import type { Alert } from '../state/alert.ts'
import { asOperator, me } from '../state/caller.ts'
import { othersInTrouble, ownAlerts } from '../state/standing.ts'
import { NONE_CAN_SEND } from './facts-of.ts'

/** The part of the client that only an operator may call. */
export const listAlerts = async (): Promise<Alert[]> =>
  (await asOperator().request<{ alerts: Alert[] }>('GET', '/v1/operator/alerts')).alerts

/** Tells all views and the rail which alerts fire. */
export function shareAlerts(alerts: readonly Alert[]): void {
  const { tenantId } = me.peek() ?? {}
  const isElsewhere = (alert: Alert): boolean => alert.tenantId !== undefined && alert.tenantId !== tenantId
  ownAlerts.value = alerts.filter((alert) => !isElsewhere(alert))
  const heard = alerts.filter((alert) => isElsewhere(alert) && alert.mutedUntil === undefined)
  othersInTrouble.value = new Set(heard.map((alert) => alert.tenantId)).size
}

/** The worst facts, which nobody may silence. */
const NEVER_MUTED: readonly string[] = ['storage_failing', NONE_CAN_SEND]

export const mayMute = ({ alert }: Alert): boolean => !NEVER_MUTED.includes(alert)
