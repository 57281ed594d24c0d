import type { Sgw } from '../../../client/client.ts'
import type { Alert } from '../state/alert.ts'
import type { Tenant } from '../state/operator.ts'

/** How all tenants are doing, from `GET /v1/operator/overview`. */
export interface AllOverview {
  /** The start of the first bucket. */
  from: string
  to: string
  /** Of all tenants; at most a thousand are listed. */
  total: number
  alerts: Alert[]
  tenants: TenantFigures[]
}

export interface TenantFigures extends Tenant {
  worst: Alert | null
  sent: number
  received: number
  failed: number
  undelivered: number
  waiting: number
  neverArrived: number
  /** 24 counts of sent and received messages, oldest first. */
  buckets: number[]
}

export const readOverview = (operator: Sgw, hours: number): Promise<AllOverview> =>
  operator.request('GET', '/v1/operator/overview', { query: { hours } })

/** The usage of all tenants in a calendar month, as a file for a spreadsheet. */
export const readUsage = (operator: Sgw, month: string): Promise<Blob> =>
  operator.request('GET', '/v1/operator/usage', { query: { month }, headers: { accept: 'text/csv' }, blob: true })
