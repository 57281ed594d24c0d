import { signal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'

/** What needs a person now: of one tenant, or of the gateway itself. */
export interface Alert {
  alert: string
  subject: string
  text: string
  /** What is wrong, without its full stop. */
  what: string
  fix: string
  since: string
  tenantId?: string
  tenantName?: string
  detail: Record<string, string | number | null>
  /** A time, or `over`: until the alert is over. */
  mutedUntil?: string
  mutedBy?: 'session' | 'cli'
}

/** What the line about the system says of `sgw status`. */
export interface Status {
  version: string
  backup: { litestream: boolean; lagMs: number | null }
  storage: string | null
}

/** One check of `sgw doctor`. */
export interface Finding {
  check: string
  level: 'ok' | 'warn' | 'fail'
  detail: string
}

/** Which request to see the checks of the gateway itself is answered; 0 while they are folded. Each request scrolls to them. */
export const checksAsked = signal(0)

/** What only an operator may call. */
export const listAlerts = async (operator: Sgw): Promise<Alert[]> =>
  (await operator.request<{ alerts: Alert[] }>('GET', '/v1/operator/alerts')).alerts

export const readStatus = (operator: Sgw): Promise<Status> => operator.request('GET', '/v1/operator/status')

export const runDoctor = (operator: Sgw): Promise<Finding[]> => operator.request('GET', '/v1/operator/doctor')
